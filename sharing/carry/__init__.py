"""The sync between an account and its shares: carried by a worker, under the lock of one account at a time."""
