"""The WSGI application, which contacts_project.server runs in threads."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contacts_project.settings")
application = get_wsgi_application()
