"""When dates come round, what they are called, when a reminder of them is due."""
