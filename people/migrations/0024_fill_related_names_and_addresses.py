"""Whom cards name, and where people live, of everybody who is there already. Killed half way, it runs again."""

from django.db import migrations

from people.duplicates.keys import address_keys
from people.related.rows import related_people_on

_ADDRESS = 12
_AT_ONCE = 500


def fill(apps, schema_editor):
    person, lookup_key = apps.get_model("people", "Person"), apps.get_model("people", "LookupKey")
    related_name = apps.get_model("people", "RelatedName")
    rows = person._base_manager.order_by("pk").only("owner_id", "addresses", "card_lines")
    last = None
    while chunk := list((rows.filter(pk__gt=last) if last else rows)[:_AT_ONCE]):
        lookup_key.objects.bulk_create(
            [
                lookup_key(owner_id=row.owner_id, person_id=row.pk, kind=_ADDRESS, key=key)
                for row in chunk
                for key in sorted({key for entry in row.addresses for key in address_keys(entry)})
            ]
        )
        related_name.objects.bulk_create(
            [
                related_name(owner_id=row.owner_id, person_id=row.pk, name=name, type_name=kind)
                for row in chunk
                for name, kind in related_people_on(row.card_lines)
            ]
        )
        last = chunk[-1].pk


def empty(apps, schema_editor):
    apps.get_model("people", "LookupKey").objects.filter(kind=_ADDRESS).delete()
    apps.get_model("people", "RelatedName").objects.all().delete()


class Migration(migrations.Migration):

    dependencies = [
        ('people', '0023_related_names'),
    ]

    operations = [
        migrations.RunPython(fill, empty),
    ]
