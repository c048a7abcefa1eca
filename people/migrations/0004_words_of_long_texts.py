"""Adds the words of notes and interactions beyond the first thousand, which an earlier version did not index."""

from collections import defaultdict

from django.db import migrations, transaction
from django.db.models.functions import Length

from people.lookup import words_of

_TEXTS_AT_ONCE = 100
_ROWS_AT_ONCE = 2_000
_NOTE_WORD = 10  # of LookupKey
# A shorter text has no more words than characters.
_MAX_WORDS = 1_000


def add_words(apps, schema_editor):
    for model, words, column, more in (
        ("Person", "LookupKey", "person_id", {"kind": _NOTE_WORD}),
        ("Interaction", "InteractionWord", "interaction_id", {}),
    ):
        rows, last = apps.get_model("people", model)._base_manager, None
        rows = rows.alias(length=Length("notes")).filter(length__gt=_MAX_WORDS).order_by("pk")
        fields = ("pk", "owner_id", "notes") if model == "Person" else ("pk", "owner_id", "title", "notes")
        while texts := list((rows.filter(pk__gt=last) if last else rows).values_list(*fields)[:_TEXTS_AT_ONCE]):
            # Each batch in a transaction of its own: run again after a crash, it finds nothing to do in those before.
            with transaction.atomic(schema_editor.connection.alias):
                _add_missing(apps.get_model("people", words), column, more, texts)
            last = texts[-1][0]


def _add_missing(model, column, more, texts):
    stored = defaultdict(set)
    found = model.objects.filter(**{f"{column}__in": [text[0] for text in texts]}, **more)
    for key, word in found.values_list(column, "key").iterator(chunk_size=_ROWS_AT_ONCE):
        stored[key].add(word)
    missing = [
        model(owner_id=owner_id, key=word, **{column: key}, **more)
        for key, owner_id, *parts in texts
        for word in sorted({*words_of(*parts)} - stored[key])
    ]
    model.objects.bulk_create(missing, batch_size=_ROWS_AT_ONCE)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("people", "0003_fewer_indexes_of_people")]

    operations = [migrations.RunPython(add_words, migrations.RunPython.noop, elidable=True)]
