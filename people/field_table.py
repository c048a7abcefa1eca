"""The fields of a person, each described once, in the order of the response.

Serializers and the API description, the projection, the search index, GET /api/find, vCards and their limits, merging
and its undo, the sync with a server, the export and import of an account, and the names in a CSV mapping derive from
this table; so does people.entries, which decides when two entries are the same, and by the API description the client
in the browser. Django needs the columns in people.models as well;
a test compares both. CONTRIBUTING.md explains how to add a field. This module does not import Django, because
people.vcard and people.entries use it.
"""

import re
from dataclasses import KW_ONLY, dataclass
from enum import Enum, auto
from typing import Literal, TypeAlias

MAX_ENTRIES = 100
"""Limit for the entries of a multi-value field, and for the important dates of a person."""

MAX_LEAD_DAYS = 365

OTHER = "other"
"""The type of an entry without one."""


FieldGroup: TypeAlias = Literal["name", "work", "contact", "dates", "network", "reminder", "marks", "card", "details"]


class FieldKind(Enum):
    """The kind of a field's value."""

    TEXT = auto()
    DATE = auto()
    FLAG = auto()
    INTEGER = auto()
    CHOICE = auto()
    REFERENCE = auto()
    LIST = auto()
    NO_COLUMN = auto()
    """Computed, or stored in rows of other tables: not a column of the person."""
    ROWS = auto()
    """A list that is not a multi-value column: rows of another table, or unmapped lines of the card."""


class Find(Enum):
    """As what GET /api/find finds a field. people.find has the scores."""

    NAME = auto()
    """Words of a name, also mistyped."""
    TEXT = auto()
    """Words of a short text, such as the organisation."""
    NOTES = auto()
    """Words of a long text."""
    EMAIL = auto()
    PHONE = auto()
    CUSTOM = auto()
    """Words of entries."""
    VALUE = auto()
    """Words of rows of another table (people.models.ValueWord)."""


class KeyKind(Enum):
    """The kind of a key's value."""

    TEXT = auto()
    EMAIL = auto()
    NUMBER = auto()


class Compare(Enum):
    """How two values are compared, from strict to lenient. All texts: in NFC, digits of any script as ASCII, without
    outer blanks. The normaliser of each is in people.entries."""

    TEXT = auto()
    """With case."""
    SPACED = auto()
    """With case, repeated blanks count once."""
    CASELESS = auto()
    LENIENT = auto()
    """Without case, accents and repeated blanks."""
    COUNTRY = auto()
    """By its code where the name is known, else LENIENT."""
    PHONE = auto()
    EMAIL = auto()
    URL = auto()
    DEGREES = auto()
    """At six decimals."""
    DAY = auto()
    ALONE = auto()
    """An entry that has a value is identified by it, whatever its other keys are."""
    NOT = auto()
    """Says nothing about which entry it is: a type, a label, a setting of ours."""


class Merge(Enum):
    """Which value a merged person gets if the request has no override."""

    PRIMARY = auto()
    FILL = auto()
    """The secondary's value if the primary's is null."""
    REMINDER = auto()
    """The secondary's value if only the secondary has a contact reminder."""
    ANY = auto()
    """Of a flag: set if it is set on one of them."""
    ALL = auto()
    """Of a flag: set only if it is set on both."""


@dataclass(frozen=True, slots=True)
class EntryKey:
    """One key of an entry of a multi-value field; `limit` is in characters."""

    name: str
    limit: int = 0
    kind: KeyKind = KeyKind.TEXT
    _: KW_ONLY
    compare: Compare = Compare.NOT
    bound: int = 0
    """The number is between -bound and bound."""
    required: bool = False
    may_be_empty: bool = False
    """Required, but the text may be empty."""
    read_only: bool = False
    classifies: bool = False
    """Describes the kind of the entry, such as its type or label: of two entries whose values differ, an edit keeps it.
    """
    never_truncated: bool = False
    """A value on a card that is too long becomes a custom field instead."""
    default: str | None = None
    default_key: str = ""
    """The key from which a missing value is taken."""
    label: str = ""
    """Its name in the remarks of an import."""
    mapping: str = ""
    """Its name in the mapping of a CSV import."""


@dataclass(frozen=True, slots=True)
class DateKey:
    """One field of an important date, by its JSON name; its column is the name with underscores.

    `limit` is in characters, or the largest number; of a LIST, of each number.
    """

    name: str
    kind: FieldKind
    limit: int = 0
    _: KW_ONLY
    least: int = 0
    choices: tuple[str, ...] = ()
    any_case: bool = False
    """A body may write the choice in lower case."""
    compare: Compare = Compare.NOT
    classifies: bool = False
    on_card: bool = False
    """A card holds it: it is imported and synced."""
    reminds: bool = False
    """Belongs to its reminder."""
    reschedules: bool = True
    """A change of it reschedules the next reminder. A new type or title must not: today's would be sent again."""
    moves: bool = False
    """Decides on which days the date is."""
    reminder_default: str | int | None = None
    """The value if a reminder is switched on without one."""
    column: str = ""
    """Derived from the name."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "column", _column_of(self.name))

    @property
    def empty(self) -> bool | list[int] | None:
        """Its value in a date that has none."""
        return False if self.kind is FieldKind.FLAG else [] if self.kind is FieldKind.LIST else None


@dataclass(frozen=True, slots=True)
class PersonField:
    """One field of a person, by its JSON name. `limit` is in characters, or for INTEGER the largest number."""

    name: str
    limit: int = 0
    kind: FieldKind = FieldKind.TEXT
    _: KW_ONLY
    column: str = ""
    """Default: the name with underscores."""
    choices: tuple[str, ...] = ()
    model: str = ""
    """The model that a REFERENCE points to."""
    required: bool = False
    read_only: bool = False
    merge: Merge = Merge.FILL
    compare: Compare = Compare.SPACED
    """When two values of a single-valued field are the same; a list is compared by the keys of its entries."""
    synced: bool = True
    """A value on cards goes both ways between a person and its card on a CardDAV server."""
    schedules_contact: bool = False
    """A change of it reschedules the next contact reminder."""
    reminder_default: str | int | None = None
    """The value if a contact reminder is switched on without one."""
    group: FieldGroup = "details"
    """Forms and pages show a group together: said by the API description."""
    searched: bool = False
    """GET /api/people/search searches it."""
    find: Find | None = None
    """GET /api/find finds people by it."""
    index_name: str = ""
    """Its name in the search index; empty if it is not in there."""
    card_property: str = ""
    """Its vCard property (`old_property` in 3.0 if that differs); empty if it is not on cards."""
    old_property: str = ""
    other_property: str = ""
    """A further vCard property that is read as this field, and edited where a card has it."""
    card: str = ""
    """Its attribute of Card. Default: the column."""
    label: str = ""
    """Its name in the remarks of an import. Default: the column in words."""
    schema: str = ""
    """The name of an entry's component in the API description."""
    keys: tuple[EntryKey, ...] = ()
    """The keys of an entry, in the order of the response, after `id`."""
    indexed_keys: tuple[str, ...] = ()
    """The keys whose values are searched; the search index joins them."""

    def __post_init__(self) -> None:
        column = self.column
        if not column and self.kind not in {FieldKind.NO_COLUMN, FieldKind.ROWS}:
            column = _column_of(self.name)
        is_on_card = bool(self.card_property or self.keys)
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "card", self.card or (column if is_on_card else ""))
        object.__setattr__(self, "label", self.label or column.replace("_", " "))

    @property
    def card_properties(self) -> tuple[str, ...]:
        """Its vCard properties in all versions."""
        return tuple(filter(None, (self.card_property, self.old_property, self.other_property)))

    @property
    def search(self) -> str:
        """How a client that has the records searches it: `name`, `words`, `digits`; empty if it does not."""
        if self.find in _SEARCH_OF_FIND:
            return _SEARCH_OF_FIND[self.find]
        return "words" if self.find or self.indexed_keys else ""

    @property
    def attribute(self) -> str:
        """The attribute of the model that holds the stored value."""
        return f"{self.column}_id" if self.kind is FieldKind.REFERENCE else self.column


def _column_of(name: str) -> str:
    return re.sub("(?=[A-Z])", "_", name).lower()


_SEARCH_OF_FIND: dict[Find | None, str] = {Find.NAME: "name", Find.PHONE: "digits"}
_UNITS = ("DAYS", "WEEKS", "MONTHS", "YEARS")
_TYPE = EntryKey("type", 50, classifies=True, default=OTHER, label="type")
_LENIENT = Compare.LENIENT
_PLACE = ("streetLine1", "streetLine2", "locality", "region", "country", "postalCode")

FIELDS: tuple[PersonField, ...] = (
    PersonField(
        "name",
        100,
        required=True,
        merge=Merge.PRIMARY,
        searched=True,
        index_name="name",
        card_property="N",
        group="name",
        find=Find.NAME,
    ),
    PersonField("surname", 100, searched=True, index_name="surname", card_property="N", group="name", find=Find.NAME),
    PersonField(
        "middleName", 100, searched=True, index_name="middleName", card_property="N", group="name", find=Find.NAME
    ),
    PersonField(
        "secondLastName",
        100,
        searched=True,
        index_name="secondLastName",
        card_property="X-SECOND-LAST-NAME",
        group="name",
        find=Find.NAME,
    ),
    PersonField(
        "nickname", 100, searched=True, index_name="nickname", card_property="NICKNAME", group="name", find=Find.NAME
    ),
    PersonField(
        "phoneticName", 100, searched=True, card_property="X-PHONETIC-FIRST-NAME", group="name", find=Find.NAME
    ),
    PersonField(
        "phoneticSurname", 100, searched=True, card_property="X-PHONETIC-LAST-NAME", group="name", find=Find.NAME
    ),
    PersonField("prefix", 50, card_property="N", group="name", find=Find.NAME),
    PersonField("suffix", 50, card_property="N", group="name", find=Find.NAME),
    PersonField("displayName", kind=FieldKind.NO_COLUMN, index_name="displayName", group="name"),
    PersonField(
        "displayNameOverride",
        200,
        card_property="X-DISPLAY-NAME",
        card="display_name",
        label="display name",
        group="name",
        find=Find.NAME,
    ),
    PersonField("organization", 200, index_name="organization", card_property="ORG", group="work", find=Find.TEXT),
    PersonField("jobTitle", 200, index_name="jobTitle", card_property="TITLE", group="work", find=Find.TEXT),
    PersonField("gender", 50, card_property="GENDER", old_property="X-GENDER"),
    PersonField(
        "anniversary", kind=FieldKind.DATE, card_property="ANNIVERSARY", old_property="X-ANNIVERSARY", group="dates"
    ),
    PersonField(
        "deathday",
        kind=FieldKind.DATE,
        schedules_contact=True,
        card_property="DEATHDATE",
        old_property="X-DEATHDATE",
        group="dates",
    ),
    PersonField(
        "lastContact",
        kind=FieldKind.DATE,
        schedules_contact=True,
        card_property="X-LAST-CONTACT",
        synced=False,
        group="reminder",
    ),
    PersonField("notes", 10_000, index_name="notes", card_property="NOTE", find=Find.NOTES),
    PersonField(
        "relationshipToUserId",
        kind=FieldKind.REFERENCE,
        column="relationship_to_user",
        model="people.RelationshipType",
        group="network",
    ),
    PersonField("relationshipToUser", kind=FieldKind.NO_COLUMN, group="network"),
    PersonField("groupIds", kind=FieldKind.NO_COLUMN, group="network"),
    PersonField("groups", kind=FieldKind.NO_COLUMN, compare=Compare.CASELESS, card="categories", group="network"),
    PersonField(
        "contactReminderEnabled", kind=FieldKind.FLAG, merge=Merge.REMINDER, schedules_contact=True, group="reminder"
    ),
    PersonField(
        "contactReminderInterval",
        99,
        FieldKind.INTEGER,
        merge=Merge.REMINDER,
        schedules_contact=True,
        reminder_default=1,
        group="reminder",
    ),
    PersonField(
        "contactReminderIntervalUnit",
        kind=FieldKind.CHOICE,
        choices=_UNITS,
        merge=Merge.REMINDER,
        schedules_contact=True,
        reminder_default="MONTHS",
        group="reminder",
    ),
    PersonField("contactReminderFrom", kind=FieldKind.NO_COLUMN, group="reminder"),
    PersonField("cardDavSyncEnabled", kind=FieldKind.FLAG, merge=Merge.PRIMARY, group="card"),
    PersonField(
        "favourite",
        kind=FieldKind.FLAG,
        merge=Merge.ANY,
        card_property="X-ANDROID-STARRED",
        other_property="X-DAVDROID-STARRED",
        group="marks",
    ),
    PersonField("quiet", kind=FieldKind.FLAG, merge=Merge.ALL, group="marks"),
    PersonField("photo", 200, read_only=True, index_name="photo", group="name"),
    PersonField("uid", 255, read_only=True, merge=Merge.PRIMARY, card_property="UID", synced=False, group="card"),
    PersonField(
        "phoneNumbers",
        kind=FieldKind.LIST,
        keys=(
            _TYPE,
            EntryKey("number", 50, compare=Compare.PHONE, required=True, never_truncated=True, mapping="phone"),
        ),
        indexed_keys=("number",),
        index_name="phones",
        schema="PhoneNumber",
        label="phone number",
        group="contact",
        find=Find.PHONE,
    ),
    PersonField(
        "emails",
        kind=FieldKind.LIST,
        keys=(
            _TYPE,
            EntryKey(
                "email",
                254,
                KeyKind.EMAIL,
                compare=Compare.EMAIL,
                required=True,
                never_truncated=True,
                mapping="email",
            ),
        ),
        indexed_keys=("email",),
        index_name="emails",
        schema="EmailAddress",
        label="e-mail address",
        group="contact",
        find=Find.EMAIL,
    ),
    PersonField(
        "addresses",
        kind=FieldKind.LIST,
        keys=(
            _TYPE,
            EntryKey("streetLine1", 200, compare=_LENIENT, label="address", mapping="address.street"),
            EntryKey("streetLine2", 200, compare=_LENIENT, label="address"),
            EntryKey("locality", 100, compare=_LENIENT, label="address", mapping="address.city"),
            EntryKey("region", 100, compare=_LENIENT, label="address", mapping="address.region"),
            EntryKey("country", 100, compare=Compare.COUNTRY, label="address", mapping="address.country"),
            EntryKey("postalCode", 20, compare=_LENIENT, label="address", mapping="address.postalCode"),
            EntryKey("latitude", kind=KeyKind.NUMBER, read_only=True),
            EntryKey("longitude", kind=KeyKind.NUMBER, read_only=True),
            EntryKey("geocodeStatus", read_only=True),
        ),
        indexed_keys=_PLACE,
        index_name="addresses",
        schema="Address",
        label="address",
        group="contact",
    ),
    PersonField(
        "urls",
        kind=FieldKind.LIST,
        keys=(
            _TYPE,
            EntryKey("url", 500, compare=Compare.URL, required=True, never_truncated=True, mapping="url"),
        ),
        indexed_keys=("url",),
        index_name="urls",
        schema="WebAddress",
        label="web address",
        group="contact",
    ),
    PersonField(
        "imHandles",
        kind=FieldKind.LIST,
        keys=(
            _TYPE,
            EntryKey("protocol", 50, compare=Compare.CASELESS, classifies=True, default_key="type", label="messenger"),
            EntryKey("handle", 200, compare=Compare.TEXT, required=True, never_truncated=True),
        ),
        indexed_keys=("handle",),
        index_name="imHandles",
        schema="ImHandle",
        label="messenger handle",
        group="contact",
    ),
    PersonField(
        "locations",
        kind=FieldKind.LIST,
        keys=(
            _TYPE,
            EntryKey("latitude", kind=KeyKind.NUMBER, compare=Compare.DEGREES, bound=90, required=True),
            EntryKey("longitude", kind=KeyKind.NUMBER, compare=Compare.DEGREES, bound=180, required=True),
            EntryKey("label", 100, classifies=True, label="location label"),
        ),
        schema="Location",
        label="location",
        group="contact",
    ),
    PersonField(
        "customFields",
        kind=FieldKind.LIST,
        keys=(
            EntryKey("key", 100, compare=Compare.CASELESS, required=True, classifies=True, label="custom field name"),
            EntryKey("value", 1000, compare=Compare.TEXT, required=True, may_be_empty=True, label="custom field"),
            EntryKey("type", 50, classifies=True, label="type"),
        ),
        indexed_keys=("key", "value"),
        index_name="customFields",
        schema="CustomField",
        label="custom field",
        find=Find.CUSTOM,
    ),
    PersonField("more", kind=FieldKind.ROWS, group="card"),
    PersonField("importantDates", kind=FieldKind.ROWS, card="important_dates", group="dates"),
    PersonField("customFieldValues", kind=FieldKind.ROWS, find=Find.VALUE, indexed_keys=("value",)),
)

COLUMNS: tuple[PersonField, ...] = tuple(field for field in FIELDS if field.column)
SCALARS: tuple[PersonField, ...] = tuple(field for field in COLUMNS if field.kind is not FieldKind.LIST)
LISTS: tuple[PersonField, ...] = tuple(field for field in COLUMNS if field.kind is FieldKind.LIST)
CARD_SCALARS: tuple[PersonField, ...] = tuple(field for field in SCALARS if field.card)

DATE_KEYS: tuple[DateKey, ...] = (
    DateKey(
        "type",
        FieldKind.CHOICE,
        choices=("BIRTHDAY", "ANNIVERSARY", "NAMEDAY", "MEMORIAL"),
        any_case=True,
        compare=Compare.ALONE,
        classifies=True,
        on_card=True,
        reschedules=False,
        moves=True,
    ),
    DateKey("title", FieldKind.TEXT, 100, compare=Compare.CASELESS, classifies=True, on_card=True, reschedules=False),
    DateKey("date", FieldKind.DATE, compare=Compare.DAY, on_card=True, moves=True),
    DateKey("yearUnknown", FieldKind.FLAG, compare=Compare.TEXT, on_card=True, moves=True),
    DateKey("reminderEnabled", FieldKind.FLAG, reminds=True, moves=True, reminder_default=True),
    DateKey(
        "reminderType",
        FieldKind.CHOICE,
        choices=("ONCE", "RECURRING"),
        reminds=True,
        moves=True,
        reminder_default="RECURRING",
    ),
    DateKey("reminderInterval", FieldKind.INTEGER, 99, least=1, reminds=True, moves=True, reminder_default=1),
    DateKey(
        "reminderIntervalUnit", FieldKind.CHOICE, choices=_UNITS, reminds=True, moves=True, reminder_default="YEARS"
    ),
    DateKey("reminderLeadDays", FieldKind.INTEGER, MAX_LEAD_DAYS, reminds=True),
    DateKey("extraLeadDays", FieldKind.LIST, MAX_LEAD_DAYS, reminds=True),
)
"""The fields of an important date, in the order of the response, between `personId` and `deletedAt`."""
DATE_COLUMNS: tuple[str, ...] = tuple(key.column for key in DATE_KEYS)
DATE_REMINDER_DEFAULTS: dict[str, str | int] = {
    key.column: key.reminder_default for key in DATE_KEYS if key.reminder_default is not None
}
"""By column, the reminder of a date for which it is switched on: once a year."""
CARD_DATE_KEYS: tuple[DateKey, ...] = tuple(key for key in DATE_KEYS if key.on_card)

REMINDER_DEFAULTS: dict[str, str | int] = {
    field.column: field.reminder_default for field in SCALARS if field.reminder_default is not None
}
"""By column, the defaults of a contact reminder that is switched on."""

MAPPING_NAMES: tuple[str, ...] = (
    *(field.name for field in SCALARS if not field.read_only and field.kind is not FieldKind.REFERENCE),
    *(key.mapping for field in LISTS for key in field.keys if key.mapping),
)
"""The fields of a person that the mapping of a CSV import may use."""
