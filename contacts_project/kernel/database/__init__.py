"""What the ORM leaves to us: triggers, statistics for the planner, compiled queries, the write lock."""
