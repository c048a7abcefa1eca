"""`manage.py seed_demo` creates a network in which everybody is connected; a second run adds what is missing."""

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command

from accounts.models import User
from accounts.services.registration import DEMO_EMAIL
from people.models import CustomFieldValue, Group, Membership, Person
from relationships.models import Relationship
from tests.builders import PASSWORD
from tests.client import Client, client_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media")]


def test_demo_account_can_be_used_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("seed_demo", people=12, password="Correct-Horse-7")
    assert "Correct-Horse-7" in capsys.readouterr().out
    owner = User.objects.get(email=DEMO_EMAIL)
    assert owner.check_password("Correct-Horse-7")
    assert (owner.geocoding_enabled, owner.date_reminder_default) == (False, "birthdays")
    api = client_of(owner)
    people = api.ok("get", "/api/people?includeAll=true")["people"]
    assert len(people) == 12
    assert any(person["importantDates"] for person in people)
    assert any(person["photo"] for person in people)
    assert any(person["groupIds"] for person in people)
    assert {(person["contactReminderFrom"] or {}).get("name") for person in people} >= {"Family", "Friends"}
    assert 0 < sum(person["favourite"] for person in people) < len(people)
    assert 0 < sum(person["quiet"] for person in people) < len(people)
    assert any(len(household["personIds"]) > 2 for household in api.ok("get", "/api/people/addresses")["households"])
    assert Relationship.unscoped.exists()
    assert api.ok("get", "/api/map/markers")["markers"]
    graph = api.ok("get", "/api/dashboard/graph")
    ends = {end for edge in graph["edges"] for end in (edge["source"], edge["target"])}
    assert {person["id"] for person in people} <= ends


def test_demo_people_are_valid_for_the_api(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("seed_demo", people=24)
    api = client_of(User.objects.get(email=DEMO_EMAIL))
    for person in api.ok("get", "/api/people?includeAll=true")["people"]:
        api.ok("put", f"/api/people/{person['id']}", person)


def test_second_run_adds_only_missing_records(capsys: pytest.CaptureFixture[str]) -> None:
    def counts() -> list[int]:
        models = (Person, Group, Membership, Relationship, CustomFieldValue)
        return [model.unscoped.count() for model in models]

    call_command("seed_demo", people=8)
    first, password = counts(), User.objects.get(email=DEMO_EMAIL).password
    call_command("seed_demo", people=8, password="Another-Horse-7")
    assert counts() == first
    assert User.objects.get(email=DEMO_EMAIL).password == password
    Person.unscoped.filter(pk=Person.unscoped.earliest("id").pk).update(deleted_at="2026-01-01T00:00:00Z")
    call_command("seed_demo", people=20)
    assert Person.unscoped.count() == 20
    assert User.objects.count() == 1


def test_generated_password_is_shown_and_differs(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("seed_demo", people=0)
    shown = capsys.readouterr().out.split()[-1]
    assert User.objects.get(email=DEMO_EMAIL).check_password(shown)
    with pytest.raises(CommandError):
        call_command("seed_demo", people=-1)


def test_first_registration_after_the_demo_becomes_operator(settings: LazySettings) -> None:
    call_command("seed_demo", people=0, password=PASSWORD)
    settings.REGISTRATION = "first"
    first = {"email": "op@example.org", "password": PASSWORD, "name": "Op"}
    Client().ok("POST", "/api/auth/register", first, status=201)
    late = {"email": "late@example.org", "password": PASSWORD, "name": "Late"}
    assert Client().ok("POST", "/api/auth/register", late, status=403)["code"] == "registration_closed"
    assert [user.email for user in User.objects.filter(is_superuser=True)] == ["op@example.org"]


def test_demo_address_of_the_operator_allows_no_second_operator(settings: LazySettings) -> None:
    settings.REGISTRATION = "first"
    first = {"email": DEMO_EMAIL, "password": PASSWORD, "name": "Op"}
    Client().ok("POST", "/api/auth/register", first, status=201)
    late = {"email": "late@example.org", "password": PASSWORD, "name": "Late"}
    assert Client().ok("POST", "/api/auth/register", late, status=403)["code"] == "registration_closed"
