"""GET /api/dashboard/stats: the figures agree with the lists of the account."""

from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from carddav.models import Conflict, PendingImport
from tests.builders import make_person
from tests.carddav.builders import make_connection
from tests.client import Client

pytestmark = pytest.mark.django_db


WAITING = ("duplicates", "suggestions", "pendingImports", "conflicts")


def stats(api: Client) -> tuple[int, int, int, int]:
    response: dict[str, Any] = api.ok("get", "/api/dashboard/stats")
    keys = ("peopleCount", "groupsCount", "relationshipsCount", "upcomingEvents")
    assert set(response) == {*keys, *WAITING}
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


def waiting(api: Client) -> list[int | None]:
    response = api.ok("get", "/api/dashboard/stats")
    return [response[key] for key in WAITING]


def test_duplicates_and_suggestions_are_those_of_the_last_search(api: Client, stranger: Client) -> None:
    assert waiting(api) == [None, None, 0, 0]
    address = [{"streetLine1": "Main St 1", "locality": "Porto"}]
    for surname in ("Lovelace", "Lovelace", "Byron"):
        api.ok("post", "/api/people", {"name": "Ada", "surname": surname, "addresses": address}, status=201)
    groups = api.ok("get", "/api/people/duplicates")["groups"]
    assert waiting(api) == [len(groups), None, 0, 0]
    suggestions = api.ok("get", "/api/relationship-suggestions")["suggestions"]
    assert waiting(api) == [len(groups), len(suggestions), 0, 0]
    assert groups
    assert suggestions
    assert waiting(stranger) == [None, None, 0, 0]


def test_what_waits_of_a_server_is_counted(api: Client, stranger: Client, alice: User) -> None:
    ada = make_person(alice, name="Ada")
    PendingImport.objects.create(owner=alice, uid="one", raw="")
    bob, connection = make_person(alice, name="Bob"), make_connection(alice)
    Conflict.objects.create(owner=alice, connection=connection, person=ada)
    Conflict.objects.create(owner=alice, connection=connection, person=bob, resolved_at=timezone.now())
    assert waiting(api) == [None, None, 1, 1]
    assert waiting(stranger) == [None, None, 0, 0]
