"""Backup and restore: an instance's database and photos in one file, for SQLite and PostgreSQL alike.

- `container`: the file format (frames, checksums, encryption)
- `tables`, `values`: which tables and columns it has, and how their values are encoded
- `snapshot`, `writer`: making a backup from a consistent snapshot
- `reader`, `loading`, `restorer`: verifying a backup, and restoring it into an empty instance
- `upgrade`: migrating a backup of an older version

See docs/backup.md.
"""
