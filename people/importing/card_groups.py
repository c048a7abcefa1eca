"""Categories of cards as groups: those that are there by name, and new ones as far as the plan goes."""

from collections.abc import Collection, Iterable

from accounts.models import User
from people.models import Group, Membership, Person
from people.models.group import group_key
from people.palette import pick_color
from people.vcard import Card
from people.vcard.line_merge import without_categories


class GroupPlan:
    """The groups that the cards of one batch name. New ones are made when somebody belongs to them, not before.

    `planned` are the keys of those that earlier batches of a dry run would have made.
    """

    def __init__(self, owner: User, planned: Collection[str] = ()) -> None:
        self.owner, self.planned = owner, planned
        self.groups: dict[str, Group] = {}
        self.remaining: int | None = None

    def load(self, names: Iterable[str]) -> None:
        active = Group.objects.owned_by(self.owner).active()
        rows = active.filter(name_key__in={group_key(name) for name in names})
        self.groups = {group.name_key: group for group in rows}
        limit = self.owner.plan_limit("groups")
        self.remaining = None if limit is None else limit - active.count() - len(self.planned)

    def drop_unavailable(self, card: Card, reasons: list[str]) -> Card:
        """The card without the categories for which the plan has no more groups; `reasons` says which."""
        left = [name for name in card.categories if not self.reserve(name)]
        if not left:
            return card
        limit = self.owner.plan_limit("groups")
        reasons.append(f"your plan allows {limit} groups: not put into {', '.join(left)}")
        return without_categories(card, left)

    def write(self, members: Iterable[tuple[Person, tuple[str, ...]]]) -> list[Group]:
        """Put people into groups by name, making the groups that are not there yet; returns those."""
        pairs = self.resolve(members)
        made = self._make(group for _, group in pairs)
        Membership.objects.bulk_create(
            Membership(owner=self.owner, person=person, group=group) for person, group in pairs
        )
        return made

    def resolve(self, members: Iterable[tuple[Person, tuple[str, ...]]]) -> list[tuple[Person, Group]]:
        """The groups by those names."""
        return [(person, self.groups[group_key(name)]) for person, names in members for name in names]

    def existing(self) -> list[Group]:
        return [group for group in self.groups.values() if not group._state.adding]

    def make(self, name: str) -> Group:
        """The group of a name that is allowed; made when it is not there."""
        group = self.groups[group_key(name)]
        self._make([group])
        return group

    def _make(self, groups: Iterable[Group]) -> list[Group]:
        return Group.objects.bulk_create({group.pk: group for group in groups if group._state.adding}.values())

    def reserve(self, name: str) -> bool:
        """Whether the group is there, or may be made."""
        key = group_key(name)
        if key in self.groups:
            return True
        left = None if key in self.planned else self.remaining
        if left is not None and left <= 0:
            return False
        self.groups[key] = Group(owner=self.owner, name=name, name_key=key, color=pick_color(name))
        if left is not None:
            self.remaining = left - 1
        return True
