"""The kinds of records of this app in the trash, and the other rows that the daily purge removes."""

from django.db.models import Exists, OuterRef, Q, QuerySet
from orjson import Fragment

from accounts.models import User
from contacts_project.kernel.json import dumps, format_timestamp
from people.importing.undo import forget_old_imports, owners_of_old_imports
from people.merging.merge import delete_old_merges, merges_of_deleted, owners_of_old_merges
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
from people.trash.registry import PurgeJob, TrashKind, id_of_record, register_purge_job, register_trash_kind


def _serialize_people(owner: User, rows: QuerySet[Person]) -> list[Fragment]:
    """The people with the id of the merge that moved them to the trash, if one did."""
    deleted = {key: format_timestamp(at) for key, at in rows.values_list("pk", "deleted_at")}
    merges = merges_of_deleted(owner, deleted)
    records = [dumps(person) for person in deleted_people(owner, rows)]
    # The people are finished JSON objects: the field is put before their last brace.
    return [
        Fragment(record[:-1] + b"," + dumps({"mergeId": merges.get(id_of_record(record))})[1:]) for record in records
    ]


_ACTIVE_PARTICIPATIONS = Participation.unscoped.rows().filter(interaction=OuterRef("pk"), person__deleted_at=None)
_KINDS = (
    TrashKind(
        name="people",
        model=Person,
        serialize=_serialize_people,
        remove=remove_deleted_people,
    ),
    TrashKind(
        name="importantDates",
        model=ImportantDate,
        serialize=deleted_dates,
        remove=remove_dates,
        condition=Q(person__deleted_at=None),
    ),
    TrashKind(
        name="interactions",
        model=Interaction,
        serialize=serialize_interactions,
        remove=remove_interactions,
        condition=Q(Exists(_ACTIVE_PARTICIPATIONS)),
    ),
    TrashKind(
        name="groups",
        model=Group,
        serialize=deleted_groups,
        remove=remove_groups,
    ),
    TrashKind(
        name="customFieldTemplates",
        model=CustomFieldTemplate,
        serialize=deleted_templates,
        remove=remove_templates,
    ),
)


def register_kinds() -> None:
    """Called once, from AppConfig.ready()."""
    for kind in _KINDS:
        register_trash_kind(kind)
    register_purge_job(PurgeJob("merges", owners_of_old_merges, delete_old_merges))
    register_purge_job(PurgeJob("imports", owners_of_old_imports, forget_old_imports))
