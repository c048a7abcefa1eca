"""Sections of people and their records in the export document of an account (accounts.transfer)."""

from accounts.transfer.sections import exclude_table, register_section
from people.transfer.account import AccountSection
from people.transfer.people import PeopleSection
from people.transfer.sections import DismissalSection, GroupSection, InteractionSection, PlaceSection, TemplateSection


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
    exclude_table("people.MergeRecord", "Only needed for undoing a merge on this instance; its result is exported.")
    exclude_table("people.AwaitedMember", "Only needed while the other files of an import come to this instance.")
    exclude_table("people.ContactImport", "Only needed for undoing an import on this instance; its result is exported.")
    exclude_table("people.ImportReceipt", "Names ids of this instance, and is kept for the retention period only.")
    exclude_table("people.ImportedRecord", "Only needed for undoing an import on this instance.")
    exclude_table("people.LookupKey", "An index, computed from the people.")
    exclude_table("people.RelatedName", "An index, computed from the lines of cards.")
    exclude_table("people.ValueWord", "An index, computed from the values of custom fields.")
    exclude_table("people.InteractionWord", "An index, computed from the interactions.")
    exclude_table("people.AccountCount", "Counts that triggers maintain.")
    exclude_table("people.StoredPhoto", "Sizes of files, recorded when pictures are stored.")
