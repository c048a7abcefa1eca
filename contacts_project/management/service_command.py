"""The base class of the service's commands."""

from django.core.management.base import BaseCommand


class ServiceCommand(BaseCommand):
    """Skips Django's system checks, which load every view: a fifth of the start. `check` and `migrate` run them."""

    requires_system_checks: list[str] = []
