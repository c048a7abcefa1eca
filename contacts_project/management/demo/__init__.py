"""The demo account of `manage.py seed_demo`: its people (`households`), and how they are written (`seeder`)."""
