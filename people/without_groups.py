"""Keeps Person.without_groups, by which GET /api/people finds whom no active group has.

Reading the memberships instead costs one look-up for each person of the account, if all of them are in groups. Triggers
write the column in the transaction of the change, so that no writer of memberships and groups can forget it. The writes
of an account follow one another (kernel.ownership.account_lock), so that two that take away somebody's last two groups
see each other.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from django.db.models import Exists, OuterRef

from contacts_project.kernel.database.triggers import Trigger, register_triggers
from people.counts import IN_GROUPS, add_people, subtract_people
from people.models import Group, Membership, Person
from people.models.person import PersonQuerySet

_PEOPLE, _MEMBERSHIPS, _GROUPS = (model._meta.db_table for model in (Person, Membership, Group))

# Scalar subqueries look up one row by its id on PostgreSQL too. EXISTS may become a hash join over all rows, and a
# trigger keeps the plan that was made when the tables were empty.
_IS_ACTIVE = f"(SELECT g.deleted_at IS NULL FROM {_GROUPS} g WHERE g.id = {{row}}.group_id)"  # noqa: S608 - names of our own
_HAS_NONE = (
    f"(SELECT count(*) FROM {_MEMBERSHIPS} m WHERE m.person_id = {{person}} AND {_IS_ACTIVE.format(row='m')}) = 0"  # noqa: S608 - as above
)
_IS_MARKED = f"(SELECT p.without_groups FROM {_PEOPLE} p WHERE p.id = {{person}})"  # noqa: S608 - as above
# Whom the change counts in or out of IN_GROUPS.
_ACTIVE = replace(IN_GROUPS, condition="{row}.deleted_at IS NULL")


def _joined(people: str) -> tuple[str, str]:
    """SQL for people who are in a group now; `people` is a condition of the id. For SQLite and for PostgreSQL."""
    return _mark("FALSE", f"{{row}}.without_groups AND {{row}}.id {people}", add_people)


def _left(people: str) -> tuple[str, str]:
    """SQL for people who have left a group, of whom some are in no other, as `_joined`."""
    has_none = _HAS_NONE.format(person="{row}.id")
    return _mark("TRUE", f"NOT {{row}}.without_groups AND {{row}}.id {people} AND {has_none}", subtract_people)


def _mark(value: str, condition: str, count: Callable[..., str]) -> tuple[str, str]:
    """SQL that sets the column of the people of the condition, and counts them, with one statement for all of them."""
    update = f"UPDATE {_PEOPLE} SET without_groups = {value} WHERE {condition.format(row=_PEOPLE)}"  # noqa: S608 - as above
    # SQLite has no RETURNING in a trigger: they are chosen once to be counted, and again to be marked.
    chosen_twice = f"{count(_ACTIVE, _PEOPLE, condition.format(row='c'))}; {update}"
    return (
        chosen_twice,
        f"WITH changed AS ({update} RETURNING owner_id, deleted_at, favourite, quiet) {count(_ACTIVE, 'changed')}",
    )


def triggers() -> Iterator[Trigger]:
    """Of memberships that come, go and move to another person or group, and of groups that leave or enter the trash."""
    (joined, joined_on_postgresql), (left, left_on_postgresql) = (
        _joined(f"= NEW.person_id AND {_IS_ACTIVE.format(row='NEW')}"),
        _left("= OLD.person_id"),
    )
    # PostgreSQL looks the people of an array up by their ids; it might join those of a subquery with all people.
    among = "= ANY(ARRAY({}))"
    added = f"SELECT a.person_id FROM added a WHERE {_IS_ACTIVE.format(row='a')}"  # noqa: S608 - as above
    members = f"SELECT m.person_id FROM {_MEMBERSHIPS} m WHERE m.group_id = NEW.id"  # noqa: S608 - as above
    yield Trigger(
        "without_groups_insert",
        _MEMBERSHIPS,
        "INSERT",
        joined,
        writes=_PEOPLE,
        statement_body=_joined(among.format(added))[1],
    )
    yield Trigger(
        "without_groups_delete",
        _MEMBERSHIPS,
        "DELETE",
        left,
        writes=_PEOPLE,
        statement_body=_left(among.format("SELECT person_id FROM removed"))[1],
    )
    moves = ("person_id", "group_id")
    yield Trigger(
        "without_groups_update",
        _MEMBERSHIPS,
        f"UPDATE OF {', '.join(moves)}",
        f"{joined}; {left}",
        changed=moves,
        writes=_PEOPLE,
        # An UPDATE that finds nobody takes three times as long as to look.
        postgresql_body=(
            f"IF {_IS_MARKED.format(person='NEW.person_id')} THEN {joined_on_postgresql}; END IF; "
            f"IF NOT {_IS_MARKED.format(person='OLD.person_id')} AND {_HAS_NONE.format(person='OLD.person_id')} "
            f"THEN {left_on_postgresql}; END IF"
        ),
    )
    for name, when, change in (
        ("trashed", "OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL", _left),
        ("restored", "OLD.deleted_at IS NOT NULL AND NEW.deleted_at IS NULL", _joined),
    ):
        yield Trigger(
            f"without_groups_{name}",
            _GROUPS,
            "UPDATE OF deleted_at",
            change(f"IN ({members})")[0],
            when=when,
            writes=_PEOPLE,
            postgresql_body=change(among.format(members))[1],
        )


def register_without_groups() -> None:
    """Register the triggers; called in AppConfig.ready()."""
    register_triggers(*triggers())


def wrongly_marked() -> PersonQuerySet:
    """The people of all accounts whose column says the opposite of their memberships."""
    memberships = Membership.unscoped.rows().filter(person=OuterRef("pk"), group__deleted_at=None)
    people: PersonQuerySet = Person.unscoped.rows()
    return people.filter(without_groups=Exists(memberships))
