"""What the commands of the service have in common."""

from django.core.management.base import BaseCommand


class ServiceCommand(BaseCommand):
    """Checks nothing first: Django's checks load every view, a fifth of a start. `migrate` and `check` run them."""

    requires_system_checks: list[str] = []
