"""0002_keys_of_numbers_and_given_names: look-up keys of people whom an earlier version wrote."""

from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.db import connection

from accounts.models import User
from contacts_project.kernel.invariants import find_violations
from people.lookup import reversed_word
from people.models import LookupKey, Person
from tests.client import Client
from tests.people.find.test_find import found_names
from tests.people.steps import create_person

pytestmark = pytest.mark.django_db(transaction=True)

migration = import_module("people.migrations.0002_keys_of_numbers_and_given_names")

PHONE, BLOCK, PHONE_TAIL, SHORT_PHONE = LookupKey.PHONE, LookupKey.BLOCK, LookupKey.PHONE_TAIL, LookupKey.SHORT_PHONE
#: People, and those keys of these kinds that b8b56eaa stored for them.
PEOPLE: list[tuple[dict[str, Any], set[tuple[int, str]]]] = [
    (
        {"name": "Ext", "phoneNumbers": [{"number": "+49 30 1234567 ext. 890"}]},
        {(PHONE, "301234567890"), (PHONE_TAIL, reversed_word("301234567890"))},
    ),
    ({"name": "Flo", "phoneNumbers": [{"number": "1-800-FLOWERS"}]}, {(SHORT_PHONE, "1800"), (PHONE_TAIL, "0081")}),
    (
        {"name": "Two", "phoneNumbers": [{"number": "+34600111222; +34600111223"}]},
        {(PHONE, "600111222"), (PHONE_TAIL, "222111006")},
    ),
    (
        {"name": "Ildi", "phoneNumbers": [{"number": "06 1 234 5678"}]},
        {(PHONE, "612345678"), (PHONE_TAIL, "876543216")},
    ),
    ({"name": "María José"}, {(BLOCK, "mr|i"), (BLOCK, "is|m"), (BLOCK, "=aaeijmors")}),
    ({"name": "Same", "phoneNumbers": [{"number": "030 998877"}]}, {(PHONE, "30998877"), (PHONE_TAIL, "77889903")}),
]
QUERIES = {"4567": "Ext", "8003569377": "Flo", "600111223": "Two", "+36 1 234 5678": "Ildi", "030 998877": "Same"}


def write_as_before(owner: User) -> None:
    """The rows as b8b56eaa wrote them."""
    rows = LookupKey.objects.filter(owner=owner, kind__in=(PHONE, BLOCK, PHONE_TAIL, SHORT_PHONE))
    rows.delete()
    for values, keys in PEOPLE:
        person = Person.objects.owned_by(owner).get(name=values["name"])
        for kind, key in keys:
            LookupKey.objects.create(owner=owner, person=person, kind=kind, key=key)


def migrate() -> None:
    with connection.schema_editor(atomic=False) as editor:
        migration.update_keys(apps, editor)


def test_people_of_an_earlier_version_get_the_keys_of_this_one(
    api: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migration, "_PEOPLE_AT_ONCE", 4)
    for values, _ in PEOPLE:
        create_person(api, **values)
    write_as_before(alice)
    assert list(find_violations("look-up keys")) != []
    assert "Two" not in found_names(api, "600111223")
    migrate()
    assert list(find_violations("look-up keys")) == []
    assert {query: found_names(api, query) for query in QUERIES} == {query: [name] for query, name in QUERIES.items()}
    before = set(LookupKey.objects.values_list("pk", flat=True))
    migrate()
    assert set(LookupKey.objects.values_list("pk", flat=True)) == before
