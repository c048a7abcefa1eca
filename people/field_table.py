"""The fields of a person, each described once, in the order of the response.

Serializers and the API description, the projection, the search index, vCards and their limits, merging and its undo,
the export and import of an account, and the names in a CSV mapping derive from this table. Django needs the columns in
people.models.person as well; a test compares both. CONTRIBUTING.md explains how to add a field. This module does not
import Django models, because people.vcard uses it.
"""

import re
from dataclasses import KW_ONLY, dataclass
from enum import Enum, auto

from people.vocabularies import Unit

MAX_ENTRIES = 100
"""Limit for the entries of a multi-value field, and for the important dates of a person."""

OTHER = "other"
"""The type of an entry without one."""


class Kind(Enum):
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


class KeyKind(Enum):
    """The kind of a key's value."""

    TEXT = auto()
    EMAIL = auto()
    NUMBER = auto()


class Merge(Enum):
    """Which value a merged person gets if the request has no override."""

    PRIMARY = auto()
    FILL = auto()
    """The secondary's value if the primary's is null."""
    REMINDER = auto()
    """The secondary's value if only the secondary has a contact reminder."""


@dataclass(frozen=True, slots=True)
class EntryKey:
    """One key of an entry of a multi-value field; `limit` is in characters."""

    name: str
    limit: int = 0
    kind: KeyKind = KeyKind.TEXT
    _: KW_ONLY
    bound: int = 0
    """The number is between -bound and bound."""
    required: bool = False
    may_be_empty: bool = False
    """Required, but the text may be empty."""
    read_only: bool = False
    classifies: bool = False
    """Describes the kind of the entry, such as its type or label. The other keys are its value."""
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
class PersonField:
    """One field of a person, by its JSON name. `limit` is in characters, or for INTEGER the largest number."""

    name: str
    limit: int = 0
    kind: Kind = Kind.TEXT
    _: KW_ONLY
    column: str = ""
    """Default: the name with underscores."""
    choices: tuple[str, ...] = ()
    model: str = ""
    """The model that a REFERENCE points to."""
    required: bool = False
    read_only: bool = False
    merge: Merge = Merge.FILL
    plans_contact: bool = False
    """A change of it reschedules the next contact reminder."""
    reminder_default: str | int | None = None
    """The value if a contact reminder is switched on without one."""
    searched: bool = False
    """GET /api/people/search searches it."""
    index_name: str = ""
    """Its name in the search index; empty if it is not in there."""
    card_property: str = ""
    """Its vCard property (`old_property` in 3.0 if that differs); empty if it is not on cards."""
    old_property: str = ""
    card: str = ""
    """Its attribute of Card. Default: the column."""
    label: str = ""
    """Its name in the remarks of an import. Default: the column in words."""
    schema: str = ""
    """The name of an entry's component in the API description."""
    keys: tuple[EntryKey, ...] = ()
    """The keys of an entry, in the order of the response, after `id`."""
    indexed_keys: tuple[str, ...] = ()
    """The keys whose values the search index joins."""

    def __post_init__(self) -> None:
        column = self.column
        if not column and self.kind not in {Kind.NO_COLUMN, Kind.ROWS}:
            column = re.sub("(?=[A-Z])", "_", self.name).lower()
        is_on_card = bool(self.card_property or self.keys)
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "card", self.card or (column if is_on_card else ""))
        object.__setattr__(self, "label", self.label or column.replace("_", " "))

    @property
    def card_properties(self) -> tuple[str, ...]:
        """Its vCard properties in all versions."""
        return tuple(filter(None, (self.card_property, self.old_property)))

    @property
    def attribute(self) -> str:
        """The attribute of the model that holds the stored value."""
        return f"{self.column}_id" if self.kind is Kind.REFERENCE else self.column


_TYPE = EntryKey("type", 50, classifies=True, default=OTHER, label="type")
_PLACE = ("streetLine1", "streetLine2", "locality", "region", "country", "postalCode")

FIELDS: tuple[PersonField, ...] = (
    PersonField("name", 100, required=True, merge=Merge.PRIMARY, searched=True, index_name="name", card_property="N"),
    PersonField("surname", 100, searched=True, index_name="surname", card_property="N"),
    PersonField("middleName", 100, searched=True, index_name="middleName", card_property="N"),
    PersonField("secondLastName", 100, searched=True, index_name="secondLastName", card_property="X-SECOND-LAST-NAME"),
    PersonField("nickname", 100, searched=True, index_name="nickname", card_property="NICKNAME"),
    PersonField("phoneticName", 100, searched=True, card_property="X-PHONETIC-FIRST-NAME"),
    PersonField("phoneticSurname", 100, searched=True, card_property="X-PHONETIC-LAST-NAME"),
    PersonField("prefix", 50, card_property="N"),
    PersonField("suffix", 50, card_property="N"),
    PersonField("displayName", kind=Kind.NO_COLUMN, index_name="displayName"),
    PersonField("displayNameOverride", 200, card_property="X-DISPLAY-NAME", card="display_name", label="display name"),
    PersonField("organization", 200, index_name="organization", card_property="ORG"),
    PersonField("jobTitle", 200, index_name="jobTitle", card_property="TITLE"),
    PersonField("gender", 50, card_property="GENDER", old_property="X-GENDER"),
    PersonField("anniversary", kind=Kind.DATE, card_property="ANNIVERSARY", old_property="X-ANNIVERSARY"),
    PersonField("deathday", kind=Kind.DATE, plans_contact=True, card_property="DEATHDATE", old_property="X-DEATHDATE"),
    PersonField("lastContact", kind=Kind.DATE, plans_contact=True, card_property="X-LAST-CONTACT"),
    PersonField("notes", 10_000, index_name="notes", card_property="NOTE"),
    PersonField(
        "relationshipToUserId",
        kind=Kind.REFERENCE,
        column="relationship_to_user",
        model="people.RelationshipType",
    ),
    PersonField("relationshipToUser", kind=Kind.NO_COLUMN),
    PersonField("groupIds", kind=Kind.NO_COLUMN),
    PersonField("groups", kind=Kind.NO_COLUMN),
    PersonField("contactReminderEnabled", kind=Kind.FLAG, merge=Merge.REMINDER, plans_contact=True),
    PersonField(
        "contactReminderInterval", 99, Kind.INTEGER, merge=Merge.REMINDER, plans_contact=True, reminder_default=1
    ),
    PersonField(
        "contactReminderIntervalUnit",
        kind=Kind.CHOICE,
        choices=tuple(Unit.values),
        merge=Merge.REMINDER,
        plans_contact=True,
        reminder_default=Unit.MONTHS.value,
    ),
    PersonField("cardDavSyncEnabled", kind=Kind.FLAG, merge=Merge.PRIMARY),
    PersonField("photo", 200, read_only=True, index_name="photo"),
    PersonField("uid", 255, read_only=True, merge=Merge.PRIMARY, card_property="UID"),
    PersonField(
        "phoneNumbers",
        kind=Kind.LIST,
        keys=(_TYPE, EntryKey("number", 50, required=True, never_truncated=True, mapping="phone")),
        indexed_keys=("number",),
        index_name="phones",
        schema="PhoneNumber",
        label="phone number",
    ),
    PersonField(
        "emails",
        kind=Kind.LIST,
        keys=(_TYPE, EntryKey("email", 254, KeyKind.EMAIL, required=True, never_truncated=True, mapping="email")),
        indexed_keys=("email",),
        index_name="emails",
        schema="EmailAddress",
        label="e-mail address",
    ),
    PersonField(
        "addresses",
        kind=Kind.LIST,
        keys=(
            _TYPE,
            EntryKey("streetLine1", 200, label="address", mapping="address.street"),
            EntryKey("streetLine2", 200, label="address"),
            EntryKey("locality", 100, label="address", mapping="address.city"),
            EntryKey("region", 100, label="address", mapping="address.region"),
            EntryKey("country", 100, label="address", mapping="address.country"),
            EntryKey("postalCode", 20, label="address", mapping="address.postalCode"),
            EntryKey("latitude", kind=KeyKind.NUMBER, read_only=True),
            EntryKey("longitude", kind=KeyKind.NUMBER, read_only=True),
            EntryKey("geocodeStatus", read_only=True),
        ),
        indexed_keys=_PLACE,
        index_name="addresses",
        schema="Address",
        label="address",
    ),
    PersonField(
        "urls",
        kind=Kind.LIST,
        keys=(_TYPE, EntryKey("url", 500, required=True, never_truncated=True, mapping="url")),
        indexed_keys=("url",),
        index_name="urls",
        schema="WebAddress",
        label="web address",
    ),
    PersonField(
        "imHandles",
        kind=Kind.LIST,
        keys=(
            _TYPE,
            EntryKey("protocol", 50, classifies=True, default_key="type", label="messenger"),
            EntryKey("handle", 200, required=True, never_truncated=True),
        ),
        indexed_keys=("handle",),
        index_name="imHandles",
        schema="ImHandle",
        label="messenger handle",
    ),
    PersonField(
        "locations",
        kind=Kind.LIST,
        keys=(
            _TYPE,
            EntryKey("latitude", kind=KeyKind.NUMBER, bound=90, required=True),
            EntryKey("longitude", kind=KeyKind.NUMBER, bound=180, required=True),
            EntryKey("label", 100, classifies=True, label="location label"),
        ),
        schema="Location",
        label="location",
    ),
    PersonField(
        "customFields",
        kind=Kind.LIST,
        keys=(
            EntryKey("key", 100, required=True, classifies=True, label="custom field name"),
            EntryKey("value", 1000, required=True, may_be_empty=True, label="custom field"),
            EntryKey("type", 50, classifies=True, label="type"),
        ),
        indexed_keys=("key", "value"),
        index_name="customFields",
        schema="CustomField",
        label="custom field",
    ),
    PersonField("more", kind=Kind.ROWS),
    PersonField("importantDates", kind=Kind.ROWS),
    PersonField("customFieldValues", kind=Kind.ROWS),
)

COLUMNS: tuple[PersonField, ...] = tuple(field for field in FIELDS if field.column)
SCALARS: tuple[PersonField, ...] = tuple(field for field in COLUMNS if field.kind is not Kind.LIST)
LISTS: tuple[PersonField, ...] = tuple(field for field in COLUMNS if field.kind is Kind.LIST)
CARD_SCALARS: tuple[PersonField, ...] = tuple(field for field in SCALARS if field.card)

REMINDER_DEFAULTS: dict[str, str | int] = {
    field.column: field.reminder_default for field in SCALARS if field.reminder_default is not None
}
"""By column, the defaults of a contact reminder that is switched on."""

MAPPING_NAMES: tuple[str, ...] = (
    *(field.name for field in SCALARS if not field.read_only and field.kind is not Kind.REFERENCE),
    *(key.mapping for field in LISTS for key in field.keys if key.mapping),
)
"""The fields of a person that the mapping of a CSV import may use."""
