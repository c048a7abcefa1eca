"""Every call to another server uses these sessions (`session.py`). docs/notifications.md describes the policy."""
