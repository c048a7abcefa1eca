"""Writes of an account without connection execute no statement on the tables of carddav (User.is_mirrored)."""

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


def test_account_is_mirrored_while_it_has_a_connection(api: Client, alice: User, mallory: User) -> None:
    assert not is_mirrored(alice)
    api.ok("POST", PATH, BODY)
    assert is_mirrored(alice)
    assert not is_mirrored(mallory)
    api.ok("DELETE", PATH)
    assert not is_mirrored(alice)


def count_carddav_statements(api: Client, alice: User) -> int:
    """The number of statements on tables of carddav from the creation of a person to its merge."""
    people = [str(make_person(alice, name=name).pk) for name in "AB"]
    with CaptureQueriesContext(connection) as captured:
        made = api.ok("POST", "/api/people", {"name": "C"}, status=201)["person"]["id"]
        api.ok("PUT", f"/api/people/{made}", {"name": "D"})
        api.ok("DELETE", f"/api/people/{made}")
        api.ok("POST", f"/api/people/{made}/restore")
        api.ok("POST", "/api/people/merge", {"primaryId": people[0], "secondaryId": people[1]})
    return sum("carddav_" in query["sql"] for query in captured)


@pytest.mark.django_db(transaction=True)
def test_writes_without_connection_do_not_use_carddav_tables(api: Client, alice: User) -> None:
    assert count_carddav_statements(api, alice) == 0
    make_connection(alice)
    assert count_carddav_statements(api, alice) > 0
