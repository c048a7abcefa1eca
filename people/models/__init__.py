"""Models of people and of the records that belong to them: see docs/people.md."""

from people.models.account_counts import AccountCount
from people.models.dates import ImportantDate, Interaction, Participation
from people.models.details import (
    CustomFieldTemplate,
    CustomFieldValue,
    GeocodedAddress,
    GeocoderPace,
    RelatedName,
    StoredPhoto,
)
from people.models.duplicates import DuplicateDismissal, MergeRecord
from people.models.groups import AwaitedMember, Group, Membership
from people.models.imports import ContactImport, ImportedRecord, ImportReceipt
from people.models.index import InteractionWord, LookupKey, ValueWord
from people.models.person import Person, RelationshipType

__all__ = [
    "AccountCount",
    "AwaitedMember",
    "ContactImport",
    "CustomFieldTemplate",
    "CustomFieldValue",
    "DuplicateDismissal",
    "GeocodedAddress",
    "GeocoderPace",
    "Group",
    "ImportReceipt",
    "ImportantDate",
    "ImportedRecord",
    "Interaction",
    "InteractionWord",
    "LookupKey",
    "Membership",
    "MergeRecord",
    "Participation",
    "Person",
    "RelatedName",
    "RelationshipType",
    "StoredPhoto",
    "ValueWord",
]
