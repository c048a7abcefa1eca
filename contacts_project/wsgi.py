"""The WSGI application, which contacts_project.server calls in its worker threads."""

import os

from django.core.wsgi import get_wsgi_application

from contacts_project.tracing import start_tracing

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contacts_project.settings")
start_tracing("web")  # before the middleware is loaded: it adds to the list of middleware
application = get_wsgi_application()
