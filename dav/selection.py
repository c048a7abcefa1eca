"""Whom a device gets: the `book` of its token (open points, section 14), as rows, so that it learns who came and left.

A device that gets everybody, and always did, has no rows and costs nothing here. For others the rows are brought up to
the account's revision before they are read: those of the people that have changed, or all of them where the token's
`book` or one of its groups has changed, as statements over sets.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from operator import attrgetter
from uuid import UUID

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.ownership.account_lock import account_lock
from dav.authentication import Credentials, DeviceColumns
from dav.models import BookCard, BookCardQuerySet, Device, SelectedCard
from people.models import Group, Membership, Person

_BATCH_SIZE = 1000
_REACHED_BY = ("phone_numbers", "emails", "addresses")


def has_selection(device: Credentials) -> bool:
    """Whether the device gets only some people, or did once."""
    return bool(device.token.book) or (device.row is not None and device.row.selected_by is not None)


def active_group_ids(device: Credentials) -> list[UUID] | None:
    """The groups of which the device gets the members, in the order of the setting; None if it is not by groups.

    Those that are gone or in the trash are left out: if none is left, it gets nobody.
    """
    chosen: list[str] | None = (device.token.book or {}).get("groupIds")
    if chosen is None:
        return None
    active = Group.objects.owned_by(device.owner).active().filter(pk__in=chosen).values_list("pk", flat=True)
    found = set(active)
    return [key for key in map(UUID, chosen) if key in found]


def only_selected(device: Credentials, rows: BookCardQuerySet) -> BookCardQuerySet:
    """Those of the rows of cards that the device gets."""
    if not has_selection(device):
        return rows
    selected = SelectedCard.objects.owned_by(device.owner).filter(token=device.token, left_revision=None)
    return rows.filter(Exists(selected.filter(card=OuterRef("pk"))))


def only_people_selected(device: Credentials, person_ids: list[UUID]) -> list[UUID]:
    """Those of these people whom the device gets."""
    if not has_selection(device):
        return person_ids
    cards = BookCard.objects.owned_by(device.owner).filter(person__in=person_ids)
    found = set(only_selected(device, cards).values_list("person_id", flat=True))
    return [key for key in person_ids if key in found]


def is_selected(device: Credentials, card: BookCard) -> bool:
    rows = SelectedCard.objects.owned_by(device.owner).filter(token=device.token, card=card, left_revision=None)
    return rows.exists()


def refresh_selection(device: Credentials) -> int:
    """Bring the rows of the device up to the revision of `device.owner`; the book must be up to it.

    Returns the revision at which a card last came or went.
    """
    if not has_selection(device):
        return 0
    owner = device.owner
    if device.row is not None and device.row.selection_revision >= owner.revision:
        return device.row.selection_changed_revision
    with account_lock(owner):
        if device.is_revoked():
            return 0  # its rows went with its password: it gets nobody
        rows = Device.objects.owned_by(owner).filter(token=device.token)
        row = rows.first() or Device(owner=owner, token=device.token, last_seen_at=timezone.now())
        if row.selection_revision < owner.revision:
            groups = active_group_ids(device)
            selected_by = _selected_by(device, groups)
            is_whole = row.selected_by != selected_by
            if _read(device, groups, since=None if is_whole else row.selection_revision, is_first=not row.selected_by):
                row.selection_changed_revision = owner.revision
            row.selected_by, row.selection_revision = selected_by, owner.revision
            row.save()
        return row.selection_changed_revision


def find_wrongly_selected(device: Device) -> Iterator[UUID]:
    """The cards that the device gets although they are not selected, or does not get although they are: of the people
    and groups that have not changed since its rows were read."""
    owner, since = device.owner, device.selection_revision
    columns = DeviceColumns._make(attrgetter(*DeviceColumns._fields)(device))
    credentials = Credentials(owner, device.token, row=columns)
    groups = active_group_ids(credentials)
    if device.selected_by != _selected_by(credentials, groups):
        return  # read again at its next request
    cards = BookCard.objects.owned_by(owner).in_book()
    cards = cards.filter(Q(person__revision__lte=since) | Q(group__revision__lte=since), changed_revision__lte=since)
    wanted = cards.filter(_condition(credentials, device.token.book or {}, groups))
    rows = SelectedCard.objects.owned_by(owner).filter(token=device.token)
    here = Exists(rows.filter(card=OuterRef("pk"), left_revision=None))
    wrong = cards.filter(here).exclude(pk__in=wanted.values("pk"))
    lacking = wanted.filter(~Q(here))
    yield from chain(*(found.values_list("pk", flat=True).iterator() for found in (wrong, lacking)))


def _selected_by(device: Credentials, groups: list[UUID] | None) -> JsonObject:
    return {"book": device.token.book, "groups": None if groups is None else sorted(key.hex for key in groups)}


def record_selected(device: Credentials, card: BookCard, revision: int) -> None:
    """The device has this card, since it has put it. It leaves again in the next sync if it is not selected."""
    if has_selection(device):
        SelectedCard.objects.bulk_create(
            [SelectedCard(owner=device.owner, token=device.token, card=card, entered_revision=revision)],
            update_conflicts=True,
            unique_fields=["token", "card"],
            update_fields=["left_revision"],
        )


def _read(device: Credentials, groups: list[UUID] | None, *, since: int | None, is_first: bool) -> bool:
    """Find out who came and who left: all cards, or those of the people that have changed after `since`."""
    owner, token, revision = device.owner, device.token, device.owner.revision
    cards = BookCard.objects.owned_by(owner).order_by()
    if since is not None:
        people = Person.objects.owned_by(owner).filter(revision__gt=since).order_by().values("pk")
        changed = Q(person__in=people) | Q(changed_revision__gt=since) | Q(left_revision__gt=since)
        cards = cards.filter(changed)
    wanted = cards.in_book().filter(_condition(device, token.book or {}, groups))
    rows = SelectedCard.objects.owned_by(owner).filter(token=token)
    here = rows.filter(left_revision=None)
    left = here.filter(card__in=cards.values("pk")).exclude(card__in=wanted.values("pk")).update(left_revision=revision)
    back = rows.exclude(left_revision=None).filter(card__in=wanted.values("pk"))
    came = back.update(left_revision=None, entered_revision=revision)
    known = rows.filter(card=OuterRef("pk"))
    new = wanted.filter(~Q(Exists(known))).values_list("pk", flat=True)
    # What a device had when it got everybody, it has already, or does not want any more.
    had_everybody = is_first and token.book_revision > 0
    made = _make(device, new, entered_revision=0 if is_first else revision)
    if had_everybody:
        others = cards.in_book().filter(~Q(Exists(known))).values_list("pk", flat=True)
        left += _make(device, others, entered_revision=0, left_revision=revision)
    return bool(left or came or made)


def _make(device: Credentials, card_ids: Iterable[UUID], **values: int) -> int:
    ids = list(card_ids)
    for start in range(0, len(ids), _BATCH_SIZE):
        batch = ids[start : start + _BATCH_SIZE]
        SelectedCard.objects.bulk_create(
            [SelectedCard(owner=device.owner, token=device.token, card_id=key, **values) for key in batch]
        )
    return len(ids)


def _condition(device: Credentials, book: Mapping[str, object], groups: list[UUID] | None) -> Q:
    """The cards of the people that are selected, and those of the groups that the device gets."""
    people, group_cards = Q(is_group=False), Q(is_group=True)
    if groups is not None:
        members = Membership.objects.owned_by(device.owner).filter(group__in=groups, person=OuterRef("person"))
        people &= Q(Exists(members))
        group_cards &= Q(group__in=groups)
    if book.get("favourites"):
        people &= Q(person__favourite=True)
    if book.get("reachable"):
        people &= ~Q(**{f"person__{column}": [] for column in _REACHED_BY})
    return people | group_cards
