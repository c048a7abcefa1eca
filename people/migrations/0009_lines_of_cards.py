"""Person.vcard_extra, lines that no field held, becomes card_lines: all lines of a card, each with what it holds."""

from typing import Any

from django.db import migrations


def name_lines(apps: Any, schema_editor: Any) -> None:
    people = apps.get_model("people", "Person")._base_manager
    for person in people.exclude(card_lines=[]).only("card_lines").iterator(500):
        person.card_lines = [{"line": line} for line in person.card_lines]
        person.save(update_fields=["card_lines"])
    for record in apps.get_model("people", "MergeRecord")._base_manager.iterator(500):
        before, after = record.image.get("scalars", {}).pop("vcard_extra", [[], []])
        record.image["cardLines"] = [{"line": line} for line in after if line not in before]
        record.save(update_fields=["image"])


def keep_unheld_lines(apps: Any, schema_editor: Any) -> None:
    people = apps.get_model("people", "Person")._base_manager
    for person in people.exclude(card_lines=[]).only("card_lines").iterator(500):
        person.card_lines = [line["line"] for line in person.card_lines if not line.get("fields")]
        person.save(update_fields=["card_lines"])


class Migration(migrations.Migration):
    dependencies = [("people", "0008_counts_of_accounts")]

    operations = [
        migrations.RenameField("person", "vcard_extra", "card_lines"),
        migrations.RunPython(name_lines, keep_unheld_lines),
    ]
