"""The demo account of `manage.py seed_demo`: who is in it, and how it is written."""
