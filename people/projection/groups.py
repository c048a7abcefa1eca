"""Groups as answers show them: any number of them in two queries."""

from typing import Any
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.api.json import timestamp
from people.counts import MEMBERS, counts_by_id
from people.models import Group, Person
from people.names import COLUMNS, NameParts, display_name, fold


def group_answers(rows: Any) -> list[dict[str, Any]]:
    """The groups of a queryset, in its order. Members in the trash do not count."""
    groups = list(rows)
    members = counts_by_id(groups[0].owner_id, MEMBERS) if groups else {}
    return [_answer(group, members.get(group.pk, 0)) for group in groups]


def listed_groups(owner: User) -> list[dict[str, Any]]:
    """The account's groups by name, without regard to case or accents."""
    answers = group_answers(Group.objects.owned_by(owner).active())
    return sorted(answers, key=lambda group: (fold(group["name"]), group["id"]))


def group_answer(owner: User, group_id: UUID) -> dict[str, Any]:
    """One group with its people, in name order."""
    rows = Group.objects.owned_by(owner).filter(pk=group_id)
    people = Person.objects.owned_by(owner).active().filter(memberships__group_id=group_id).in_name_order()
    order, form = owner.name_order, owner.name_display_format
    members = [
        {"id": str(key), "name": display_name(NameParts(*parts), order=order, form=form)}
        for key, *parts in people.values_list("id", *COLUMNS)
    ]
    return {**group_answers(rows)[0], "people": members}


def deleted_groups(owner: User, rows: Any) -> list[dict[str, Any]]:
    """Groups of the trash."""
    return group_answers(rows)


def _answer(group: Any, members: int) -> dict[str, Any]:
    return {
        "id": str(group.pk),
        "name": group.name,
        "description": group.description,
        "color": group.color,
        "memberCount": members,
        "deletedAt": timestamp(group.deleted_at),
        "createdAt": timestamp(group.created_at),
        "updatedAt": timestamp(group.updated_at),
    }
