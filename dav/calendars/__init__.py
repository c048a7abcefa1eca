"""The calendars of an account as devices see them: important dates as events, contact reminders as tasks."""
