"""Brings the look-up keys of people whom an earlier version wrote up to what people.lookup makes of them now.

A number with an extension is found without it; letters of a number are digits; several numbers in one entry are several;
06 before landlines of Hungary is a trunk prefix; María José alone is a given name.
"""

from collections import defaultdict

from django.db import migrations, transaction

from people.lookup import identifying_keys
from people.names import COLUMNS

_PEOPLE_AT_ONCE = 500
_ROWS_AT_ONCE = 2_000
# PHONE, BLOCK, PHONE_TAIL and SHORT_PHONE of LookupKey: all others are as they were.
_KINDS = frozenset({2, 4, 7, 13})


def update_keys(apps, schema_editor):
    person = apps.get_model("people", "Person")._base_manager
    last = None
    while True:
        rows = person.order_by("pk") if last is None else person.order_by("pk").filter(pk__gt=last)
        people = list(rows.values("pk", "owner_id", "emails", "phone_numbers", *COLUMNS)[:_PEOPLE_AT_ONCE])
        if not people:
            return
        # Each batch in a transaction of its own: run again after a crash, it finds nothing to do in those before.
        with transaction.atomic(schema_editor.connection.alias):
            _update_batch(apps.get_model("people", "LookupKey"), people)
        last = people[-1]["pk"]


def _update_batch(lookup_key, people):
    stored = defaultdict(dict)
    found = lookup_key.objects.filter(person__in=[person["pk"] for person in people], kind__in=_KINDS)
    for pk, person_id, kind, key in found.values_list("pk", "person_id", "kind", "key"):
        stored[person_id][kind, key] = pk
    stale, missing = [], []
    for person in people:
        before = stored[person["pk"]]
        now = {(kind, key) for kind, key in identifying_keys(person) if kind in _KINDS}
        stale += [pk for key, pk in before.items() if key not in now]
        missing += [
            lookup_key(owner_id=person["owner_id"], person_id=person["pk"], kind=kind, key=key)
            for kind, key in sorted(now - before.keys())
        ]
    for start in range(0, len(stale), _ROWS_AT_ONCE):
        lookup_key.objects.filter(pk__in=stale[start : start + _ROWS_AT_ONCE]).delete()
    lookup_key.objects.bulk_create(missing, batch_size=_ROWS_AT_ONCE)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("people", "0001_tables")]

    operations = [migrations.RunPython(update_keys, migrations.RunPython.noop, elidable=True)]
