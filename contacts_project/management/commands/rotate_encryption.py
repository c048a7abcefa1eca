"""`manage.py rotate_encryption`: re-encrypts every stored secret under the newest key of ENCRYPTION_KEYS."""

from typing import Any

from django.apps import apps
from django.core.management.base import BaseCommand
from django.db import transaction
from django.db.models import Model

from contacts_project.crypto.fields import EncryptedTextField


class Command(BaseCommand):
    help = "Re-encrypts stored secrets under the newest key; afterwards older keys can be dropped."

    def handle(self, *args: Any, **options: Any) -> None:
        done = sum(rotate_model(model) for model in apps.get_models())
        self.stdout.write(f"{done} secrets are now under the newest key.")


def rotate_model(model: type[Model]) -> int:
    """Re-encrypt the encrypted columns of one table, each row in its own transaction, so that it may be run again."""
    fields = [field.name for field in model._meta.concrete_fields if isinstance(field, EncryptedTextField)]
    if not fields:
        return 0
    keys = model._default_manager.values_list("pk", flat=True)
    return sum(_rotate_row(model, key, fields) for key in list(keys))


def _rotate_row(model: type[Model], key: Any, fields: list[str]) -> int:
    """Read and write under the row's lock: a secret that its owner changes meanwhile is not set back."""
    with transaction.atomic():
        row = model._default_manager.select_for_update().filter(pk=key).only("pk", *fields).first()
        secrets = {name: value for name in fields if (value := getattr(row, name, None)) is not None}
        if secrets:
            model._default_manager.filter(pk=key).update(**secrets)
    return len(secrets)
