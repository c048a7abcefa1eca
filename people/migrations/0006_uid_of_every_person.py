"""Gives people without a vCard UID the one made of their id, as new ones get it, in one statement."""

from typing import Any

from django.db import migrations, models
from django.db.models import Value
from django.db.models.functions import Cast, Concat, Replace, Substr


def give_uids(apps: Any, schema_editor: Any) -> None:
    digits = Replace(Cast("id", models.CharField()), Value("-"), Value(""))  # SQLite keeps ids without hyphens
    parts = [Substr(digits, start, length) for start, length in ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))]
    hyphened = [part for piece in parts for part in (Value("-"), piece)][1:]
    uid = Concat(Value("urn:uuid:"), *hyphened, output_field=models.CharField())
    apps.get_model("people", "Person")._base_manager.filter(uid=None).update(uid=uid)


class Migration(migrations.Migration):
    dependencies = [("people", "0005_geocoded_addresses")]

    operations = [migrations.RunPython(give_uids, migrations.RunPython.noop)]
