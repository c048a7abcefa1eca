"""When dates come round, what they celebrate, when a reminder of them is due."""
