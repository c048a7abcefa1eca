"""The WSGI application, for gunicorn."""

import os

import django

from contacts_project.api.chunked import MeasuredHandler

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contacts_project.settings")
django.setup(set_prefix=False)
application = MeasuredHandler()
