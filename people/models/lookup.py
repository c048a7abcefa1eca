"""Indexed tables for finding people by what identifies them, and by what is known of them."""

from django.conf import settings
from django.db import models

from people.models.custom_field import CustomFieldValue
from people.models.interaction import Interaction
from people.models.person import Person
from people.words import MAX_WORD_LENGTH


class LookupKey(models.Model):
    """A normalised e-mail, phone or name key of a person; rewritten in the transaction that writes the person.

    The first four kinds are read by duplicates, vCard import and sync; what they hold is said in
    people.duplicates.keys, which makes them. The words (people.words) are for GET /api/find: a TAIL is a word of a
    name, or a number, from its end. ADDRESS is where somebody lives, for suggestions of relationships.
    Rows are written by people.lookup alone.
    """

    EMAIL, PHONE, NAME, BLOCK = 1, 2, 3, 4
    NAME_WORD, NAME_TAIL, PHONE_TAIL, WORK_WORD, EMAIL_WORD, NOTE_WORD, CUSTOM_WORD = 5, 6, 7, 8, 9, 10, 11
    ADDRESS = 12

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="lookup_keys")
    kind = models.PositiveSmallIntegerField()
    key = models.CharField(max_length=320)

    class Meta:
        # Compared character by character, so that it finds beginnings under any collation of PostgreSQL.
        indexes = [
            models.Index(
                fields=["owner", "kind", "key", "person"],
                name="lookup_key",
                opclasses=["uuid_ops", "int2_ops", "varchar_pattern_ops", "uuid_ops"],
            )
        ]


class ValueWord(models.Model):
    """A word of the value of a custom field; written by people.word_index alone, taken away by its triggers."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    value = models.ForeignKey(CustomFieldValue, on_delete=models.DO_NOTHING, related_name="words")
    key = models.CharField(max_length=MAX_WORD_LENGTH)

    class Meta:
        indexes = [
            models.Index(
                fields=["owner", "key", "value"],
                name="value_word",
                opclasses=["uuid_ops", "varchar_pattern_ops", "uuid_ops"],
            )
        ]


class InteractionWord(models.Model):
    """A word of an interaction's title or notes; written and taken away likewise."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    interaction = models.ForeignKey(Interaction, on_delete=models.DO_NOTHING, related_name="words")
    key = models.CharField(max_length=MAX_WORD_LENGTH)

    class Meta:
        indexes = [
            models.Index(
                fields=["owner", "key", "interaction"],
                name="interaction_word",
                opclasses=["uuid_ops", "varchar_pattern_ops", "uuid_ops"],
            )
        ]
