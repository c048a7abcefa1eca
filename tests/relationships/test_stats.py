"""GET /api/dashboard/stats: the figures agree with the lists of the account."""

from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from tests.builders import make_person
from tests.client import Client

pytestmark = pytest.mark.django_db


def stats(api: Client) -> tuple[int, int, int, int]:
    response: dict[str, Any] = api.ok("get", "/api/dashboard/stats")
    keys = ("peopleCount", "groupsCount", "relationshipsCount", "upcomingEvents")
    assert set(response) == set(keys)
    people, groups, relationships, events = (response[key] for key in keys)
    return people, groups, relationships, events


def test_an_empty_account_has_zeros(api: Client) -> None:
    assert stats(api) == (0, 0, 0, 0)


def test_the_figures_are_those_of_the_lists(api: Client, stranger: Client, alice: User) -> None:
    ada, bob, eve = (make_person(alice, name=name) for name in ("Ada", "Bob", "Eve"))
    group = api.ok("post", "/api/groups", {"name": "g"}, status=201)["group"]
    api.ok("post", "/api/relationships", {"personId": str(ada.pk), "relatedPersonId": str(bob.pk)})
    api.ok("post", "/api/relationships", {"personId": str(ada.pk), "relatedPersonId": str(eve.pk)})
    date = {"title": "Today", "date": timezone.now().date().isoformat()}
    api.ok("post", f"/api/people/{ada.pk}/important-dates", date)
    assert stats(api) == (3, 1, 2, len(api.ok("get", "/api/upcoming")["events"]))
    assert stats(api)[3] == 1
    assert stats(stranger) == (0, 0, 0, 0)
    api.ok("delete", f"/api/groups/{group['id']}")
    api.ok("delete", f"/api/people/{bob.pk}")
    assert stats(api) == (2, 0, 1, 1)
    api.ok("delete", f"/api/people/{ada.pk}")
    assert stats(api) == (1, 0, 0, 0)
