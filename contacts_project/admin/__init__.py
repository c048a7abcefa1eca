"""The admin for operators: its site, the lists that stand on several apps, the pages of operation and of the trash.

Django imports it when the apps are loaded; each app has lists of its own in `admin.py` (docs/admin.md).
"""

from contacts_project.admin import schedule, users  # noqa: F401 - they register their lists
