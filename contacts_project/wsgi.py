"""The WSGI application, which contacts_project.server runs in threads."""

import os

from django.core.wsgi import get_wsgi_application

from contacts_project.tracing import start_tracing

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contacts_project.settings")
start_tracing("web")  # before the middleware is loaded, to which it adds
application = get_wsgi_application()
