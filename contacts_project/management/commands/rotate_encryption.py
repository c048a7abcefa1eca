"""`manage.py rotate_encryption`: re-encrypts every stored secret under the newest key of ENCRYPTION_KEYS."""

from django.apps import apps
from django.core.management.base import CommandError
from django.db import transaction
from django.db.models import Model, QuerySet

from contacts_project.kernel.crypto.fields import UndecryptableError, encrypted_columns
from contacts_project.management.service_command import ServiceCommand


class Command(ServiceCommand):
    help = "Re-encrypts stored secrets under the newest key; afterwards older keys can be dropped."

    def handle(self, **options: object) -> None:
        try:
            done = sum(rotate_model(model) for model in apps.get_models())
        except UndecryptableError as error:
            raise CommandError(f"{error} Put that key back at its end, and run this again.") from None
        self.stdout.write(f"{done} secrets are now under the newest key.")


def rotate_model(model: type[Model]) -> int:
    """Re-encrypt the encrypted columns of a table and return the number of secrets.

    Each row has its own transaction: an interrupted run keeps its progress and can be repeated.
    """
    fields = encrypted_columns(model)
    if not fields:
        return 0
    keys = model._default_manager.values_list("pk", flat=True)
    return sum(_rotate_row(model, key, fields) for key in list(keys))


def _rotate_row(model: type[Model], key: object, fields: list[str]) -> int:
    """Read and write under the row lock: a secret that its owner changes meanwhile must not be overwritten."""
    with transaction.atomic():
        row = model._default_manager.select_for_update().filter(pk=key).only("pk", *fields).first()
        secrets = {name: value for name in fields if (value := getattr(row, name, None)) is not None}
        if secrets:
            # Not the queryset of the model: in the change feed this is no change, and must not raise the revision.
            QuerySet(model).filter(pk=key).update(**secrets)
    return len(secrets)
