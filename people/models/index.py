"""What is stored so that reading is quick: keys and words to find people by, and counts."""

from django.conf import settings
from django.db import models

from contacts_project.kernel.database.tuple_rows import TupleRows
from people.models.dates import Interaction
from people.models.details import CustomFieldValue
from people.models.person import Person

MAX_WORD_LENGTH = 40


class LookupKey(models.Model):
    """A normalized key or word of a person, updated in the transaction that writes the person.

    Duplicates, vCard import and sync read the kinds EMAIL, PHONE, NAME and BLOCK; people.duplicates.keys defines their
    keys. GET /api/find reads the words (people.lookup); a TAIL is a word of a name, or a phone number, backwards,
    and a SHORT_PHONE a number that is too short to be evidence of a duplicate.
    Suggestions of relationships read ADDRESS, street and place of an address. WHOLE_ADDRESS is equal for all addresses
    that people.entries calls the same, also those at work and without a street. Only people.lookup writes these rows.
    """

    EMAIL, PHONE, NAME, BLOCK = 1, 2, 3, 4
    NAME_WORD, NAME_TAIL, PHONE_TAIL, WORK_WORD, EMAIL_WORD, NOTE_WORD, CUSTOM_WORD = 5, 6, 7, 8, 9, 10, 11
    ADDRESS = 12
    SHORT_PHONE = 13
    WHOLE_ADDRESS = 14

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="lookup_keys")
    kind = models.PositiveSmallIntegerField()
    key = models.CharField(max_length=320)

    as_tuples = TupleRows("owner", "person", "kind", "key")

    class Meta:
        # varchar_pattern_ops, so that the index serves prefix searches under any collation of PostgreSQL.
        indexes = [
            models.Index(
                fields=["owner", "kind", "key", "person"],
                name="lookup_key",
                opclasses=["uuid_ops", "int2_ops", "varchar_pattern_ops", "uuid_ops"],
            )
        ]


class ValueWord(models.Model):
    """A word of a custom field value. people.lookup inserts these rows, and its triggers delete them."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    value = models.ForeignKey(CustomFieldValue, on_delete=models.DO_NOTHING, related_name="words")
    key = models.CharField(max_length=MAX_WORD_LENGTH)

    as_tuples = TupleRows("owner", "value", "key")

    class Meta:
        indexes = [
            models.Index(
                fields=["owner", "key", "value"],
                name="value_word",
                opclasses=["uuid_ops", "varchar_pattern_ops", "uuid_ops"],
            )
        ]


class InteractionWord(models.Model):
    """A word of an interaction's title or notes. people.lookup inserts these rows, and its triggers delete them."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    interaction = models.ForeignKey(Interaction, on_delete=models.DO_NOTHING, related_name="words")
    key = models.CharField(max_length=MAX_WORD_LENGTH)

    as_tuples = TupleRows("owner", "interaction", "key")

    class Meta:
        indexes = [
            models.Index(
                fields=["owner", "key", "interaction"],
                name="interaction_word",
                opclasses=["uuid_ops", "varchar_pattern_ops", "uuid_ops"],
            )
        ]
