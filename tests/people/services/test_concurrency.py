"""People under concurrent requests: the plan's limit holds, updates do not interleave, a person is deleted once."""

from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.errors import MissingError, NotDeletedError
from people.models import Person
from people.services.people import delete_person, remove_person
from tests.builders import make_person, make_user, set_plan_limits
from tests.client import client_of
from tests.concurrency import repeat_concurrently


@pytest.fixture
def owner(transactional_db: None, settings: Any) -> User:
    set_plan_limits(settings, people=5, reminders=2)
    return make_user("many@example.org")


def test_the_limit_of_people_holds(owner: User) -> None:
    statuses = repeat_concurrently(owner, 12, lambda client, n: client.call("post", "/api/people", {"name": f"P{n}"}))
    assert statuses == {201: 5, 403: 7}
    assert Person.objects.owned_by(owner).active().count() == 5


def test_restoring_counts_like_creating(owner: User) -> None:
    client = client_of(owner)
    gone = [client.ok("post", "/api/people", {"name": f"P{n}"}, status=201)["person"]["id"] for n in range(4)]
    for person in gone:
        client.ok("delete", f"/api/people/{person}")
    for number in range(3):
        make_person(owner, name=f"Q{number}")
    statuses = repeat_concurrently(owner, 4, lambda client, n: client.call("post", f"/api/people/{gone[n]}/restore"))
    assert statuses == {200: 2, 403: 2}
    response = client.call("post", "/api/people", {"name": "One more"}).json()
    assert response["code"] == "plan_limit"
    assert "5" in response["error"]


def test_restoring_the_same_person_twice_works_once(owner: User) -> None:
    client = client_of(owner)
    person = client.ok("post", "/api/people", {"name": "Ada"}, status=201)["person"]["id"]
    client.ok("delete", f"/api/people/{person}")
    statuses = repeat_concurrently(owner, 4, lambda client, n: client.call("post", f"/api/people/{person}/restore"))
    assert statuses == {200: 1, 400: 3}


@pytest.mark.parametrize("number", range(5))
def test_deleting_the_same_person_at_once_works_once(owner: User, number: int) -> None:
    path = f"/api/people/{make_person(owner).pk}"
    assert repeat_concurrently(owner, 4, lambda client, n: client.call("delete", path)) == {200: 1, 404: 3}


def test_deleting_a_person_who_is_gone_writes_nothing(owner: User) -> None:
    person = make_person(owner)
    delete_person(owner=owner, person_id=person.pk, options={}, now=timezone.now())
    before = User.objects.get(pk=owner.pk).revision
    with pytest.raises(MissingError):
        delete_person(owner=owner, person_id=person.pk, options={}, now=timezone.now())
    assert User.objects.get(pk=owner.pk).revision == before


def test_a_person_restored_meanwhile_is_not_reported_as_removed(owner: User) -> None:
    person = make_person(owner)
    with pytest.raises(NotDeletedError):
        remove_person(owner=owner, person_id=person.pk)
    assert Person.objects.owned_by(owner).active().filter(pk=person.pk).exists()


def test_contact_reminders_count_as_reminders(owner: User) -> None:
    body = {"name": "Ada", "contactReminderEnabled": True}
    statuses = repeat_concurrently(owner, 4, lambda client, n: client.call("post", "/api/people", body))
    assert statuses == {201: 2, 403: 2}
    client = client_of(owner)
    plain = client.ok("post", "/api/people", {"name": "Eve"}, status=201)["person"]["id"]
    assert client.call("put", f"/api/people/{plain}", {"contactReminderEnabled": True}).status_code == 403
    reminded = Person.objects.owned_by(owner).filter(contact_reminder_enabled=True).values_list("pk", flat=True)[0]
    client.ok("put", f"/api/people/{reminded}", {"contactReminderEnabled": True, "contactReminderInterval": 2})


def test_updates_of_one_person_do_not_lose_each_other(owner: User) -> None:
    person = client_of(owner).ok("post", "/api/people", {"name": "Ada"}, status=201)["person"]["id"]
    fields = ["surname", "middleName", "nickname", "prefix", "suffix", "gender", "organization", "jobTitle"]
    statuses = repeat_concurrently(
        owner, len(fields), lambda client, n: client.call("put", f"/api/people/{person}", {fields[n]: "x"})
    )
    assert statuses == {200: len(fields)}
    response = client_of(owner).ok("get", f"/api/people/{person}")["person"]
    assert {response[field] for field in fields} == {"x"}


def test_without_saas_mode_there_is_no_limit(owner: User, settings: Any) -> None:
    settings.SAAS_MODE = False
    statuses = repeat_concurrently(owner, 8, lambda client, n: client.call("post", "/api/people", {"name": f"P{n}"}))
    assert statuses == {201: 8}
