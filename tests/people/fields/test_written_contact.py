"""What `write_fields` returns is the contact as it is stored, although not all of it is read again."""

from typing import Any

import pytest

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import account_write
from people.contents.contact import LocalContact, create_from_cards, load_local_contact, write_fields
from people.contents.fields import ENTRY_FIELDS, SCALARS, remote_fields
from people.vcard import read_card
from tests.dav.rich import RICH

pytestmark = pytest.mark.django_db

# Only triggers and jobs set these; no card contains them.
_COMPUTED = frozenset({"next_date_until", "next_date_on", "interacted_on"})


def columns(contact: LocalContact) -> dict[str, Any]:
    return {
        name: bytes(value) if isinstance(value, memoryview) else value
        for name, value in vars(contact.person).items()
        if name[0] != "_" and name not in _COMPUTED
    }


def assert_stored(owner: User, contact: LocalContact) -> None:
    stored = load_local_contact(owner, contact.person.pk)
    assert (contact.fields, contact.card, contact.groups) == (stored.fields, stored.card, stored.groups)
    assert [row.pk for row in contact.dates] == [row.pk for row in stored.dates]
    assert columns(contact) == columns(stored)


def test_what_is_returned_is_what_is_stored(alice: User) -> None:
    card, _ = read_card(RICH)
    other, _ = read_card(RICH.replace("Ada", "Bea").replace("example", "sample").replace("7946", "7999"))
    with account_write(alice) as write:
        [made] = create_from_cards(alice, write, [(card, None)])
        assert made.fields["groups"] == ["Friends", "Science, old"]
        assert_stored(alice, made)
    target = {**remote_fields(other), "photo": None}
    names = [*SCALARS, *ENTRY_FIELDS]
    assert sum(target[name] != made.fields[name] for name in names) >= 5
    for name in names:
        for value in (target[name], None if name in SCALARS and name != "name" else made.fields[name]):
            with account_write(alice) as write:
                contact = load_local_contact(alice, made.person.pk)
                fields = {**contact.fields, name: value}
                written = write_fields(alice, write, contact, fields, {name}, None)
                assert_stored(alice, written)
