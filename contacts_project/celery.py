"""The Celery application: workers and the scheduler. Without REDIS_URL it runs on the embedded broker."""

import os

from celery import Celery

import contacts_project.kernel.broker  # noqa: F401 - makes kombu know the scheme `embedded`

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contacts_project.settings")

app = Celery("contacts_project")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
