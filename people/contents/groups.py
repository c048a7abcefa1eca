"""Maps the categories of cards to groups: existing groups by name, and new ones up to the limit of the plan."""

from collections.abc import Collection, Iterable

from accounts.models import User
from contacts_project.kernel.texts import Text, define_text
from people.models import Group, Membership, Person
from people.models.groups import group_key, pick_color
from people.services.plan_limits import remaining_in_plan
from people.vcard import Card
from people.vcard.line_merge import without_categories

_NOT_IN_GROUPS = define_text(
    "groups_over_plan",
    "your plan allows %(limit)s group: not put into %(groups)s",
    plural="your plan allows %(limit)s groups: not put into %(groups)s",
    number="limit",
)


class CategoryGroups:
    """The groups that the categories of a batch of cards name: existing ones, and new ones as far as the plan allows.

    A new group is created only when it gets a member. `dry_run_keys` are those of the groups that earlier batches of a
    dry run would have created. `remaining` is how many more groups the account's plan allows, None without a limit.
    """

    def __init__(self, owner: User, dry_run_keys: Collection[str] = ()) -> None:
        self.owner, self.dry_run_keys = owner, dry_run_keys
        self.groups: dict[str, Group] = {}
        self.remaining: int | None = None

    def load(self, names: Iterable[str]) -> None:
        """Read the active groups with these names, and what the account's plan still allows. Reads nothing if there
        are none."""
        keys = {group_key(name) for name in names}
        if not keys:
            self.groups = {}
            return
        active = Group.objects.owned_by(self.owner).active().filter(name_key__in=keys)
        self.groups = {group.name_key: group for group in active}
        remaining = remaining_in_plan(self.owner, "groups")
        self.remaining = None if remaining is None else remaining - len(self.dry_run_keys)

    def drop_unavailable(self, card: Card, remarks: list[Text]) -> Card:
        """Return the card without the categories that the account's plan refuses; appends to `remarks` which."""
        refused = [name for name in card.categories if not self.reserve(name)]
        if not refused:
            return card
        remarks.append(_NOT_IN_GROUPS.format(limit=self.owner.plan_limit("groups"), groups=refused))
        return without_categories(card, refused)

    def write(self, members: Iterable[tuple[Person, tuple[str, ...]]]) -> list[Group]:
        """Put people into groups by name. Creates the missing groups and returns them."""
        pairs = self.resolve(members)
        created = self._insert_missing(group for _, group in pairs)
        Membership.objects.bulk_create(
            Membership(owner=self.owner, person=person, group=group) for person, group in pairs
        )
        return created

    def resolve(self, members: Iterable[tuple[Person, tuple[str, ...]]]) -> list[tuple[Person, Group]]:
        """Return each person with each of its groups; the names must have been reserved."""
        return [(person, self.groups[group_key(name)]) for person, names in members for name in names]

    def existing(self) -> list[Group]:
        return [group for group in self.groups.values() if not group._state.adding]

    def make(self, name: str) -> Group:
        """Return the group with a reserved name; creates it if it does not exist."""
        group = self.groups[group_key(name)]
        self._insert_missing([group])
        return group

    def _insert_missing(self, groups: Iterable[Group]) -> list[Group]:
        return Group.objects.bulk_create({group.pk: group for group in groups if group._state.adding}.values())

    def reserve(self, name: str) -> bool:
        """Whether the group exists or may be created. A new group takes its place in the account's plan at once."""
        key = group_key(name)
        if key in self.groups:
            return True
        allowance = None if key in self.dry_run_keys else self.remaining
        if allowance is not None and allowance <= 0:
            return False
        # Kept unsaved until somebody joins it, so that a card that is refused later leaves no empty group.
        self.groups[key] = Group(owner=self.owner, name=name, name_key=key, color=pick_color(name))
        if allowance is not None:
            self.remaining = allowance - 1
        return True
