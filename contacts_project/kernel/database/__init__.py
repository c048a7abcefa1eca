"""What the ORM does not do: triggers, planner statistics, compiled queries, SQLite's write lock."""
