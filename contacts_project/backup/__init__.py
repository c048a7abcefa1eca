"""Backup and restore: an instance's database and photos in one file, for SQLite and PostgreSQL alike.

- `container`: the file format (frames, checksums, encryption)
- `contents`: the header and the totals
- `tables`: which tables and columns it has, and how their values are encoded
- `rows`: reading them from a consistent snapshot, and loading them
- `writer`: making a backup
- `reader`, `restorer`: verifying a backup, and restoring it into an empty instance

See docs/backup.md.
"""
