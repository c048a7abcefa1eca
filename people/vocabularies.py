"""Choices of people's records, used by serializers, models and rules."""

from contacts_project.kernel.vocabularies import Vocabulary


class Unit(Vocabulary):
    """The unit of an interval."""

    DAYS = "DAYS"
    WEEKS = "WEEKS"
    MONTHS = "MONTHS"
    YEARS = "YEARS"


class DateType(Vocabulary):
    """Predefined types, of which a person has each at most once. A date without a type has a title."""

    BIRTHDAY = "BIRTHDAY"
    ANNIVERSARY = "ANNIVERSARY"
    NAMEDAY = "NAMEDAY"
    MEMORIAL = "MEMORIAL"


class ReminderType(Vocabulary):
    ONCE = "ONCE"
    RECURRING = "RECURRING"


class ReminderKind(Vocabulary):
    """Whether a reminder is sent in advance or on the day itself."""

    LEAD = "lead"
    DAY = "day"


class TemplateType(Vocabulary):
    """The type of a custom field's values."""

    TEXT = "TEXT"
    NUMBER = "NUMBER"
    BOOLEAN = "BOOLEAN"
    SELECT = "SELECT"


class GeocodeState(Vocabulary):
    PENDING = "pending"
    SKIPPED = "skipped"
    DONE = "done"
    FAILED = "failed"


class InteractionKind(Vocabulary):
    CALL = "CALL"
    MESSAGE = "MESSAGE"
    EMAIL = "EMAIL"
    MEETING = "MEETING"
    GIFT = "GIFT"
    NOTE = "NOTE"
    OTHER = "OTHER"


class ImportSource(Vocabulary):
    """The product or format of an imported file."""

    CSV = "csv"
    GOOGLE = "google"
    OUTLOOK = "outlook"
    LINKEDIN = "linkedin"
    MONICA = "monica"
    NAMETAG = "nametag"
    VCARD = "vcard"


#: The sources of POST /api/import/{source}. vCards have a route of their own.
UPLOAD_SOURCES = tuple(source for source in ImportSource.values if source != ImportSource.VCARD)


class ImportState(Vocabulary):
    """What an import is doing."""

    RUNNING = "running"
    DONE = "done"
    UNDONE = "undone"


class RecordKind(Vocabulary):
    """The records that an import creates."""

    PERSON = "person"
    GROUP = "group"
    INTERACTION = "interaction"
    RELATIONSHIP = "relationship"


class Resolution(Vocabulary):
    """The user's decision about a conflict; empty while it is open."""

    OPEN = ""
    KEEP_LOCAL = "keep_local"
    KEEP_REMOTE = "keep_remote"
    MERGED = "merged"
