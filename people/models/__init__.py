"""Models of people and of the records that belong to them: see docs/people.md."""

from people.models.account_count import AccountCount
from people.models.contact_import import ContactImport, ImportedRecord
from people.models.custom_field import CustomFieldTemplate, CustomFieldValue
from people.models.dismissal import DuplicateDismissal
from people.models.geocoding import GeocodedAddress, GeocoderPace
from people.models.group import Group, Membership
from people.models.important_date import ImportantDate
from people.models.interaction import Interaction, Participation
from people.models.lookup import InteractionWord, LookupKey, ValueWord
from people.models.merge_record import MergeRecord
from people.models.person import Person
from people.models.related_name import RelatedName
from people.models.relationship_type import RelationshipType
from people.models.stored_photo import StoredPhoto

__all__ = [
    "AccountCount",
    "ContactImport",
    "CustomFieldTemplate",
    "CustomFieldValue",
    "DuplicateDismissal",
    "GeocodedAddress",
    "GeocoderPace",
    "Group",
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
