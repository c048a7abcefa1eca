"""Lines of cards that no field held until now are read into the new fields. Killed half way, it runs again."""

from django.db import migrations

from people.fields.more import more_of
from people.names import keys_of_names
from people.vcard.content_lines import parse_line
from people.vcard.readers import Context, read_line
from people.words import reversed_word, words_of

_FIELDS = ("deathday", "phonetic_name", "phonetic_surname")
_NAMES = ("name", "surname", "middle_name", "second_last_name", "nickname", "prefix", "suffix", "display_name_override")
_LIMIT = 100
_NAME_WORD, _NAME_TAIL, _SHORTEST_TAIL = 5, 6, 3
_AT_ONCE = 500


def fill(apps, schema_editor):
    person, lookup_key = apps.get_model("people", "Person"), apps.get_model("people", "LookupKey")
    rows = person._base_manager.exclude(card_lines=[]).order_by("pk")
    rows = rows.only("owner_id", "card_lines", "more", "sort_key", "search_key", *_FIELDS, *_NAMES)
    last = None
    while chunk := list((rows.filter(pk__gt=last) if last else rows)[:_AT_ONCE]):
        changed = [row for row in chunk if _read(row)]
        columns = ["card_lines", "more", "sort_key", "search_key", *_FIELDS]
        person._base_manager.bulk_update(changed, columns, batch_size=50)
        lookup_key.objects.bulk_create(
            [
                lookup_key(owner_id=row.owner_id, person_id=row.pk, kind=kind, key=key)
                for row in changed
                for kind, key in _new_words(row)
            ]
        )
        last = chunk[-1].pk


def _read(row):
    """Whether the lines of the row's card say anything new."""
    for kept in row.card_lines:
        said = [] if kept.get("fields") else read_line(parse_line(kept["line"]), Context())
        for field, value in said:
            if field in _FIELDS and getattr(row, field) is None:
                setattr(row, field, value[:_LIMIT].rstrip() if isinstance(value, str) else value)
                kept["fields"] = [field]
    row.more = more_of(row.card_lines)
    row.sort_key, row.search_key = keys_of_names(row)
    return bool(row.more) or any(getattr(row, field) for field in _FIELDS)


def _new_words(row):
    known = set(words_of(*(getattr(row, column) for column in _NAMES)))
    for word in sorted(set(words_of(row.phonetic_name, row.phonetic_surname)) - known):
        yield _NAME_WORD, word
        if len(word) >= _SHORTEST_TAIL:
            yield _NAME_TAIL, reversed_word(word)


class Migration(migrations.Migration):

    dependencies = [
        ('people', '0020_deathday_phonetic_names_and_more'),
    ]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
