"""Sections of people and their records in the export document of an account (accounts.transfer)."""

from accounts.transfer.sections import leave_out, register_section
from people.transfer.account import AccountSection
from people.transfer.dismissals import DismissalSection
from people.transfer.groups import GroupSection
from people.transfer.interactions import InteractionSection
from people.transfer.people import PeopleSection
from people.transfer.places import PlaceSection
from people.transfer.templates import TemplateSection


def register_transfer() -> None:
    """Called once, from AppConfig.ready(). Every model is either in a section or left out with a reason."""
    for section in (
        AccountSection,
        GroupSection,
        TemplateSection,
        PlaceSection,
        PeopleSection,
        InteractionSection,
        DismissalSection,
    ):
        register_section(section())
    leave_out("people.MergeRecord", "Undoing a merge takes the records as they were here; what it made is exported.")
    leave_out("people.ContactImport", "As above: what it brought is exported.")
    leave_out("people.ImportedRecord", "As above.")
    leave_out("people.LookupKey", "An index, made anew from the people.")
    leave_out("people.RelatedName", "An index, from the lines of cards.")
    leave_out("people.ValueWord", "An index, from the values of custom fields.")
    leave_out("people.InteractionWord", "An index, from the interactions.")
    leave_out("people.AccountCount", "Counts of the account's rows, kept by triggers.")
    leave_out("people.StoredPhoto", "Sizes of files, noted down as pictures are stored.")
