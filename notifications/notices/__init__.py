"""Notices: their content, their text, their actions, and unsubscribing."""
