"""Categories of cards as groups: those that are there by name, and new ones as far as the plan goes."""

from collections.abc import Iterable

from accounts.models import User
from people.models import Group, Membership, Person
from people.models.group import group_key
from people.palette import pick_color
from people.vcard import Card
from people.vcard.kept_lines import without_categories


class GroupPlan:
    """The groups that the cards of one batch name. New ones are made when somebody belongs to them, not before."""

    def __init__(self, owner: User) -> None:
        self.owner = owner
        self.groups: dict[str, Group] = {}
        self.left: int | None = None

    def load(self, names: Iterable[str]) -> None:
        active = Group.objects.owned_by(self.owner).active()
        rows = active.filter(name_key__in={group_key(name) for name in names})
        self.groups = {group.name_key: group for group in rows}
        limit = self.owner.plan_limit("groups")
        self.left = None if limit is None else limit - active.count()

    def allow(self, card: Card, reasons: list[str]) -> Card:
        """The card without the categories for which the plan has no more groups; `reasons` says which."""
        left = [name for name in card.categories if not self.allows(name)]
        if not left:
            return card
        limit = self.owner.plan_limit("groups")
        reasons.append(f"your plan allows {limit} groups: not put into {', '.join(left)}")
        return without_categories(card, left)

    def write(self, members: Iterable[tuple[Person, tuple[str, ...]]]) -> None:
        """Put people into groups by name, making the groups that are not there yet."""
        pairs = [(person, self.groups[group_key(name)]) for person, names in members for name in names]
        self._make(group for _, group in pairs)
        Membership.objects.bulk_create(
            Membership(owner=self.owner, person=person, group=group) for person, group in pairs
        )

    def existing(self) -> list[Group]:
        return [group for group in self.groups.values() if not group._state.adding]

    def make(self, name: str) -> Group:
        """The group of a name that is allowed; made when it is not there."""
        group = self.groups[group_key(name)]
        self._make([group])
        return group

    def _make(self, groups: Iterable[Group]) -> None:
        Group.objects.bulk_create({group.pk: group for group in groups if group._state.adding}.values())

    def allows(self, name: str) -> bool:
        """Whether the group is there, or may be made."""
        key = group_key(name)
        if key in self.groups:
            return True
        if self.left is not None and self.left <= 0:
            return False
        self.groups[key] = Group(owner=self.owner, name=name, name_key=key, color=pick_color(name))
        if self.left is not None:
            self.left -= 1
        return True
