"""All people of an account as one vCard file, streamed, in a constant number of queries."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator
from uuid import UUID

from accounts.models import User
from people.fields.cards import card_of
from people.models import ImportantDate, Membership, Person
from people.photos.files import read_photo
from people.vcard import write_card

_FETCH_SIZE = 500


def export_cards(*, owner: User, version: str) -> Iterator[bytes]:
    """Yield the card of each active person, in name order. `version`: of vCard. Photos are read one at a time."""
    dates: dict[UUID, list[ImportantDate]] = defaultdict(list)
    for row in ImportantDate.objects.owned_by(owner).active().order_by("id").iterator(_FETCH_SIZE):
        dates[row.person_id].append(row)
    groups: dict[UUID, list[str]] = defaultdict(list)
    memberships = Membership.objects.owned_by(owner).filter(group__deleted_at=None).order_by("id")
    for person_id, name in memberships.values_list("person_id", "group__name"):
        groups[person_id].append(name)
    # Computed columns, which no card contains.
    people = Person.objects.owned_by(owner).active().in_name_order().defer("sort_key", "search_key")
    for person in people.iterator(_FETCH_SIZE):
        photo = read_photo(person.photo) if person.photo else None
        card = card_of(person, dates.get(person.pk, ()), groups.get(person.pk, ()), photo)
        revised = person.updated_at.astimezone(dt.UTC).strftime("%Y%m%dT%H%M%SZ")
        yield write_card(card, version, revised=revised).encode("utf-8", "replace")
