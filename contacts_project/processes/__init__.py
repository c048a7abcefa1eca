"""The processes of an instance: the supervisor and what it starts."""
