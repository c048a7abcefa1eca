"""The admin for operators: lists that use several apps, and the pages of operation and of the trash.

Django imports it when the apps are loaded. The other lists are in each app's `admin.py` (docs/admin.md).
"""

from contacts_project.admin import lists  # noqa: F401 - importing registers them
