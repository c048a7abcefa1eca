"""Brings the sort keys of people whose card says what its name is sorted as (SORT-AS, SORT-STRING) up to what
people.cards.card_lines makes of them now."""

from django.db import migrations, transaction
from django.db.models import TextField
from django.db.models.functions import Cast

from people.names import COLUMNS, PHONETIC_COLUMNS, NameParts, sort_key
from people.vcard.sort_names import sort_names

_PEOPLE_AT_ONCE = 500


def update_keys(apps, schema_editor):
    people = apps.get_model("people", "Person")._base_manager
    found = people.alias(kept=Cast("card_lines", TextField())).filter(kept__icontains="SORT-").order_by("pk")
    columns = ("pk", "sort_key", "card_lines", *COLUMNS, *PHONETIC_COLUMNS)
    last = None
    while True:
        rows = list((found if last is None else found.filter(pk__gt=last)).values_list(*columns)[:_PEOPLE_AT_ONCE])
        if not rows:
            return
        # Each batch in a transaction of its own: run again after a crash, it finds nothing to do in those before.
        with transaction.atomic(schema_editor.connection.alias):
            for pk, stored, card_lines, *names, phonetic_name, phonetic_surname in rows:
                parts = NameParts(*names)
                kept = ((line["line"], bool(line.get("fields"))) for line in card_lines)
                given, family = sort_names(kept, parts.name, parts.surname)
                key = sort_key(parts, (phonetic_name or given, phonetic_surname or family))
                if key != bytes(stored):
                    people.filter(pk=pk, sort_key=stored).update(sort_key=key)
        last = rows[-1][0]


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("people", "0004_words_of_long_texts")]

    operations = [migrations.RunPython(update_keys, migrations.RunPython.noop, elidable=True)]
