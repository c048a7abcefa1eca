"""Files of calendars (RFC 5545): what of them is read, time zones, recurrence. Pure."""
