"""Without a connection a write costs nothing in CardDAV's tables; the account knows whether it has one."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from tests.builders import make_person
from tests.carddav.builders import make_connection
from tests.carddav.test_connection import BODY, PATH
from tests.client import Client


def is_mirrored(user: User) -> bool:
    return User.objects.get(pk=user.pk).is_mirrored


def test_an_account_is_mirrored_while_it_has_a_connection(api: Client, alice: User, mallory: User) -> None:
    assert not is_mirrored(alice)
    api.ok("POST", PATH, BODY)
    assert is_mirrored(alice)
    assert not is_mirrored(mallory)
    api.ok("DELETE", PATH)
    assert not is_mirrored(alice)


def carddav_statements(api: Client, alice: User) -> int:
    """How many are made by a person's whole life."""
    people = [str(make_person(alice, name=name).pk) for name in "AB"]
    with CaptureQueriesContext(connection) as captured:
        made = api.ok("POST", "/api/people", {"name": "C"}, status=201)["person"]["id"]
        api.ok("PUT", f"/api/people/{made}", {"name": "D"})
        api.ok("DELETE", f"/api/people/{made}")
        api.ok("POST", f"/api/people/{made}/restore")
        api.ok("POST", "/api/people/merge", {"primaryId": people[0], "secondaryId": people[1]})
    return sum("carddav_" in query["sql"] for query in captured)


@pytest.mark.django_db(transaction=True)
def test_writes_ask_nothing_of_carddav_without_one(api: Client, alice: User) -> None:
    assert carddav_statements(api, alice) == 0
    make_connection(alice)
    assert carddav_statements(api, alice) > 0
