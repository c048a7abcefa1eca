"""Choices of people's records, used by serializers, models and rules."""

from django.db.models import TextChoices


class Unit(TextChoices):
    """The unit of an interval."""

    DAYS = "DAYS"
    WEEKS = "WEEKS"
    MONTHS = "MONTHS"
    YEARS = "YEARS"


class DateType(TextChoices):
    """Predefined types, of which a person has each at most once. A date without a type has a title."""

    BIRTHDAY = "BIRTHDAY"
    ANNIVERSARY = "ANNIVERSARY"
    NAMEDAY = "NAMEDAY"
    MEMORIAL = "MEMORIAL"


class ReminderType(TextChoices):
    ONCE = "ONCE"
    RECURRING = "RECURRING"


class ReminderKind(TextChoices):
    """Whether a reminder is sent in advance or on the day itself."""

    LEAD = "lead"
    DAY = "day"


class TemplateType(TextChoices):
    """The type of a custom field's values."""

    TEXT = "TEXT"
    NUMBER = "NUMBER"
    BOOLEAN = "BOOLEAN"
    SELECT = "SELECT"


class GeocodeState(TextChoices):
    PENDING = "pending"
    SKIPPED = "skipped"
    DONE = "done"
    FAILED = "failed"


class InteractionKind(TextChoices):
    CALL = "CALL"
    MESSAGE = "MESSAGE"
    EMAIL = "EMAIL"
    MEETING = "MEETING"
    GIFT = "GIFT"
    NOTE = "NOTE"
    OTHER = "OTHER"


class ImportSource(TextChoices):
    """The product or format of an imported file."""

    CSV = "csv"
    GOOGLE = "google"
    OUTLOOK = "outlook"
    LINKEDIN = "linkedin"
    MONICA = "monica"
    NAMETAG = "nametag"


class RecordKind(TextChoices):
    """The records that an import creates."""

    PERSON = "person"
    GROUP = "group"
    INTERACTION = "interaction"
    RELATIONSHIP = "relationship"
