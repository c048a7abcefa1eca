"""The words in which people's records are put; serializers, columns and rules take them from here."""

from django.db.models import TextChoices


class Unit(TextChoices):
    """What an interval is counted in."""

    DAYS = "DAYS"
    WEEKS = "WEEKS"
    MONTHS = "MONTHS"
    YEARS = "YEARS"


class DateType(TextChoices):
    """Days that a person has once; others have a title."""

    BIRTHDAY = "BIRTHDAY"
    ANNIVERSARY = "ANNIVERSARY"
    NAMEDAY = "NAMEDAY"
    MEMORIAL = "MEMORIAL"


class ReminderType(TextChoices):
    ONCE = "ONCE"
    RECURRING = "RECURRING"


class ReminderKind(TextChoices):
    """Which of an occurrence's two reminders."""

    LEAD = "lead"
    DAY = "day"


class TemplateType(TextChoices):
    """What values a custom field takes."""

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
    """How one was in touch."""

    CALL = "CALL"
    MESSAGE = "MESSAGE"
    EMAIL = "EMAIL"
    MEETING = "MEETING"
    GIFT = "GIFT"
    NOTE = "NOTE"
    OTHER = "OTHER"


class ImportSource(TextChoices):
    """Where a file of contacts comes from."""

    CSV = "csv"
    GOOGLE = "google"
    OUTLOOK = "outlook"
    LINKEDIN = "linkedin"
    MONICA = "monica"
    NAMETAG = "nametag"


class RecordKind(TextChoices):
    """What an import makes."""

    PERSON = "person"
    GROUP = "group"
    INTERACTION = "interaction"
    RELATIONSHIP = "relationship"
