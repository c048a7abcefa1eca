"""The settings that come from environment variables: one table, read and validated at each start."""
