"""Backup and restore: an instance's database and photos in one file, for SQLite and PostgreSQL alike.

`container` is the file (frames, checksums, encryption), `tables` what of the database is in it, `writer` and `reader`
its contents, `snapshot` the moment that is backed up, `restorer` an empty instance filled, `upgrade` an older file
brought up to date. See docs/backup.md.
"""
