"""Insights into the people of an account: long silences, missing details, round birthdays and anniversaries."""
