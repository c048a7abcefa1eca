"""The words of everybody who is there already. Killed half way, nothing is committed, and it runs again."""

from django.db import migrations

from people.lookup import keys_of
from people.words import words_of, words_of_value

_FIRST_KIND = 5
_AT_ONCE = 500
# As the table has them here: keys are made of other columns some day.
_COLUMNS = (
    *("name", "surname", "middle_name", "second_last_name", "nickname", "prefix", "suffix", "display_name_override"),
    *("emails", "phone_numbers", "organization", "job_title", "notes", "custom_fields"),
)


def fill(apps, schema_editor):
    person, lookup_key = apps.get_model("people", "Person"), apps.get_model("people", "LookupKey")
    for rows in _chunks(person, "owner_id", *_COLUMNS):
        lookup_key.objects.bulk_create(
            [
                lookup_key(owner_id=row.owner_id, person_id=row.pk, kind=kind, key=key)
                for row in rows
                for kind, key in sorted(keys_of({column: getattr(row, column) for column in _COLUMNS}))
                if kind >= _FIRST_KIND
            ]
        )
    value_word = apps.get_model("people", "ValueWord")
    for rows in _chunks(apps.get_model("people", "CustomFieldValue"), "owner_id", "value"):
        value_word.objects.bulk_create(
            [
                value_word(owner_id=row.owner_id, value_id=row.pk, key=word)
                for row in rows
                for word in sorted(set(words_of_value(row.value)))
            ]
        )
    interaction_word = apps.get_model("people", "InteractionWord")
    for rows in _chunks(apps.get_model("people", "Interaction"), "owner_id", "title", "notes"):
        interaction_word.objects.bulk_create(
            [
                interaction_word(owner_id=row.owner_id, interaction_id=row.pk, key=word)
                for row in rows
                for word in sorted(set(words_of(row.title, row.notes)))
            ]
        )


def empty(apps, schema_editor):
    apps.get_model("people", "LookupKey").objects.filter(kind__gte=_FIRST_KIND).delete()


def _chunks(model, *columns):
    """All rows, in the order of their ids."""
    last = None
    while True:
        rows = model._base_manager.order_by("pk").only(*columns)
        rows = list((rows.filter(pk__gt=last) if last else rows)[:_AT_ONCE])
        if not rows:
            return
        yield rows
        last = rows[-1].pk


class Migration(migrations.Migration):

    dependencies = [
        ('people', '0018_words_to_find_by'),
    ]

    operations = [
        migrations.RunPython(fill, empty),
    ]
