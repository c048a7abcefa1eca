"""What is worth a thought: who drifts away, whose details are missing, which round days come."""
