"""The kinds of records of this app in the trash, and the other rows that the daily purge removes."""

from django.db.models import Exists, OuterRef, Q

from people.importing.undo import forget_old_imports, owners_of_old_imports
from people.merging.merge import delete_old_merges, owners_of_old_merges
from people.models import CustomFieldTemplate, Group, ImportantDate, Interaction, Participation, Person
from people.projection import deleted_people
from people.projection.custom_templates import deleted_templates
from people.projection.groups import deleted_groups
from people.projection.important_dates import deleted_dates
from people.projection.interactions import serialize_interactions
from people.services.custom_templates import remove_templates
from people.services.group_lifecycle import remove_groups
from people.services.important_dates import remove_dates
from people.services.interactions import remove_interactions
from people.services.people import remove_deleted_people
from people.trash.registry import Expiry, TrashKind, register_expiry, register_trash_kind

_API = "people.api"


def register_kinds() -> None:
    """Called once, from AppConfig.ready()."""
    register_trash_kind(
        TrashKind(
            "people", Person, f"{_API}.person_serializer.PersonListedSerializer", deleted_people, remove_deleted_people
        )
    )
    of_active_people = Q(person__deleted_at=None)
    record = f"{_API}.person_entries.DeletedDateSerializer"
    register_trash_kind(
        TrashKind("importantDates", ImportantDate, record, deleted_dates, remove_dates, of_active_people)
    )
    with_somebody = Q(Exists(Participation.unscoped.rows().filter(interaction=OuterRef("pk"), person__deleted_at=None)))
    record = f"{_API}.interactions.InteractionSerializer"
    register_trash_kind(
        TrashKind("interactions", Interaction, record, serialize_interactions, remove_interactions, with_somebody)
    )
    register_trash_kind(TrashKind("groups", Group, f"{_API}.groups.GroupSerializer", deleted_groups, remove_groups))
    record = f"{_API}.custom_templates.TemplateSerializer"
    register_trash_kind(
        TrashKind("customFieldTemplates", CustomFieldTemplate, record, deleted_templates, remove_templates)
    )
    register_expiry(Expiry("merges", owners_of_old_merges, delete_old_merges))
    register_expiry(Expiry("imports", owners_of_old_imports, forget_old_imports))
