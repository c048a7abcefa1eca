"""Cards of devices have no last contact: the texts of before are written anew, each book when a device next asks."""

from typing import Any

from django.db import migrations
from django.db.models import F


def read_books_again(apps: Any, schema_editor: Any) -> None:
    people = apps.get_model("people", "Person")._base_manager.exclude(last_contact=None)
    books = apps.get_model("dav", "Book")._base_manager.filter(owner__in=people.values("owner"))
    # Devices are told of what has a later revision than they have read.
    users = apps.get_model("accounts", "User")._base_manager.filter(pk__in=books.values("owner"))
    users.update(revision=F("revision") + 1)
    books.update(read_revision=-1)


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_tables"),
        ("dav", "0001_tables"),
        ("people", "0001_tables"),
    ]

    operations = [migrations.RunPython(read_books_again, migrations.RunPython.noop)]
