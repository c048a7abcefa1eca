"""lastContact follows the interactions, and returns to the date that the user entered."""

import datetime as dt
from functools import partial
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.invariants import find_violations
from notifications.tasks import due_scan, replan
from people.models import Interaction, Person
from people.services.last_contact import apply_due_interactions
from tests.accounts.test_transfer import export_document, normalize_document
from tests.builders import make_person, make_user
from tests.client import Client, client_of
from tests.concurrency import run_concurrently
from tests.people.interactions.steps import add_interaction, last_contact

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock")]  # noon of 1 March 2026, UTC


def set_last_contact(api: Client, person: Person, day: str | None) -> str | None:
    body = {"lastContact": day}
    shown: str | None = api.ok("PUT", f"/api/people/{person.pk}", body)["person"]["lastContact"]
    return shown


def delete(api: Client, row: dict[str, Any]) -> None:
    api.ok("DELETE", f"/api/interactions/{row['id']}")


def test_last_contact_follows_created_and_deleted_interactions(api: Client, ada: Person) -> None:
    assert set_last_contact(api, ada, "2026-01-10") == "2026-01-10"
    add_interaction(api, ada, at="2026-01-05T12:00:00Z")
    assert last_contact(api, ada) == "2026-01-10"
    one = add_interaction(api, ada, at="2026-01-15T12:00:00Z")
    two = add_interaction(api, ada, at="2026-01-20T12:00:00Z")
    assert last_contact(api, ada) == "2026-01-20"
    delete(api, two)
    assert last_contact(api, ada) == "2026-01-15"
    delete(api, one)
    assert last_contact(api, ada) == "2026-01-10"
    api.ok("POST", f"/api/interactions/{two['id']}/restore")
    assert last_contact(api, ada) == "2026-01-20"
    api.ok("PUT", f"/api/interactions/{two['id']}", {"at": "2026-01-12T12:00:00Z"})
    assert last_contact(api, ada) == "2026-01-12"


def test_entered_date_counts_as_before(api: Client, ada: Person) -> None:
    row = add_interaction(api, ada, at="2026-01-15T12:00:00Z")
    assert set_last_contact(api, ada, "2026-01-20") == "2026-01-20"
    assert set_last_contact(api, ada, "2026-01-02") == "2026-01-15"
    # Sending back the value of the response enters no date.
    assert set_last_contact(api, ada, "2026-01-15") == "2026-01-15"
    delete(api, row)
    assert last_contact(api, ada) == "2026-01-02"
    assert set_last_contact(api, ada, None) is None


def test_last_contact_follows_changed_participants(api: Client, alice: User, ada: Person) -> None:
    bob, cy = make_person(alice, name="Bob"), make_person(alice, name="Cy")
    row = add_interaction(api, ada, bob)
    api.ok("PUT", f"/api/interactions/{row['id']}", {"personIds": [str(bob.pk), str(cy.pk)]})
    assert [last_contact(api, one) for one in (ada, bob, cy)] == [None, "2026-02-20", "2026-02-20"]


def test_a_person_who_shows_the_same_has_not_changed(api: Client, ada: Person) -> None:
    set_last_contact(api, ada, "2026-02-25")
    before = api.ok("GET", f"/api/people/{ada.pk}")["person"]
    add_interaction(api, ada, at="2026-02-20T12:00:00Z")
    assert api.ok("GET", f"/api/people/{ada.pk}")["person"] == before


def test_the_day_is_that_of_the_accounts_zone(api: Client, alice: User, ada: Person) -> None:
    add_interaction(api, ada, at="2026-02-20T20:00:00Z")
    assert last_contact(api, ada) == "2026-02-20"
    api.ok("PUT", "/api/user/timezone", {"timezone": "Asia/Tokyo"})
    replan(str(alice.pk))
    assert last_contact(api, ada) == "2026-02-21"
    assert list(find_violations("contact")) == list(find_violations("interactions")) == []


def test_future_interaction_counts_from_its_day_on(api: Client, alice: User, ada: Person) -> None:
    api.ok("PUT", "/api/user/timezone", {"timezone": "America/New_York"})
    set_last_contact(api, ada, "2026-02-01")
    later_today = add_interaction(api, ada, at="2026-03-01T23:00:00Z")
    assert last_contact(api, ada) == "2026-03-01"
    delete(api, later_today)
    add_interaction(api, ada, at="2026-03-04T02:00:00Z")  # in the evening of the 3rd
    assert last_contact(api, ada) == "2026-02-01"
    for now, shown in [("2026-03-03T04:59:59Z", "2026-02-01"), ("2026-03-03T05:00:00Z", "2026-03-03")]:
        with time_machine.travel(now, tick=False):
            due_scan()
            due_scan()
            assert last_contact(api, ada) == shown
            assert list(find_violations("contact")) == list(find_violations("interactions")) == []
    assert apply_due_interactions(now=timezone.now()) == 0


def test_future_interaction_follows_a_changed_time_zone(api: Client, alice: User, ada: Person) -> None:
    add_interaction(api, ada, at="2026-03-02T01:00:00Z")
    assert last_contact(api, ada) is None
    api.ok("PUT", "/api/user/timezone", {"timezone": "America/New_York"})
    replan(str(alice.pk))
    assert last_contact(api, ada) == "2026-03-01"
    api.ok("PUT", "/api/user/timezone", {"timezone": "UTC"})
    replan(str(alice.pk))
    assert last_contact(api, ada) is None
    assert list(find_violations("contact")) == list(find_violations("interactions")) == []


def test_interrupted_scan_is_completed_by_the_next(
    api: Client, alice: User, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_interaction(api, ada, at="2026-03-02T12:00:00Z")
    tomorrow = dt.datetime(2026, 3, 2, 12, tzinfo=dt.UTC)
    with time_machine.travel(tomorrow, tick=False):
        with monkeypatch.context() as patch:
            patch.setattr("people.models.dates.InteractionQuerySet.update", _raise_interrupt)
            with pytest.raises(KeyboardInterrupt):
                apply_due_interactions(now=tomorrow)
        assert last_contact(api, ada) is None
        assert [apply_due_interactions(now=tomorrow) for _ in range(2)] == [1, 0]
        assert last_contact(api, ada) == "2026-03-02"


@pytest.mark.parametrize(("seconds", "runs"), [(60.0, [3, 0]), (-1.0, [2, 1])])
def test_many_interactions_of_a_day_are_counted_in_several_writes(
    api: Client, ada: Person, monkeypatch: pytest.MonkeyPatch, seconds: float, runs: list[int]
) -> None:
    monkeypatch.setattr("people.services.last_contact.BATCH_SIZE", 2)
    monkeypatch.setattr("people.services.last_contact._MAX_SCAN_SECONDS", seconds)
    for hour in (8, 9, 10):
        add_interaction(api, ada, at=f"2026-03-02T{hour:02}:00:00Z")
    tomorrow = dt.datetime(2026, 3, 2, 12, tzinfo=dt.UTC)
    with time_machine.travel(tomorrow, tick=False):
        assert [apply_due_interactions(now=tomorrow) for _ in range(2)] == runs


def _raise_interrupt(*args: Any, **kwargs: Any) -> int:
    raise KeyboardInterrupt


def test_the_contact_reminder_counts_from_it(api: Client, ada: Person) -> None:
    body = {"contactReminderEnabled": True, "contactReminderInterval": 1, "contactReminderIntervalUnit": "MONTHS"}
    api.ok("PUT", f"/api/people/{ada.pk}", {**body, "lastContact": "2026-02-10"})
    row = add_interaction(api, ada, at="2026-02-20T12:00:00Z")
    [event] = api.ok("GET", "/api/upcoming?days=60")["events"]
    assert event["date"] == "2026-03-20"
    delete(api, row)
    [event] = api.ok("GET", "/api/upcoming?days=60")["events"]
    assert event["date"] == "2026-03-10"


def test_merging_moves_them_and_undo_gives_them_back(api: Client, alice: User, ada: Person) -> None:
    bob = make_person(alice, name="Bob")
    set_last_contact(api, ada, "2026-01-01")
    mine, theirs, both = (
        add_interaction(api, ada, at="2026-01-05T12:00:00Z"),
        add_interaction(api, bob),
        add_interaction(api, ada, bob),
    )
    before = {one.pk: api.ok("GET", f"/api/people/{one.pk}")["person"]["lastContact"] for one in (ada, bob)}
    rows = api.ok("GET", "/api/interactions")["interactions"]
    merged = api.ok("POST", "/api/people/merge", {"primaryId": str(ada.pk), "secondaryId": str(bob.pk)})
    assert merged["person"]["lastContact"] == "2026-02-20"
    merged_rows = api.ok("GET", f"/api/people/{ada.pk}/interactions")["interactions"]
    assert {row["id"] for row in merged_rows} == {mine["id"], theirs["id"], both["id"]}
    assert all([one["name"] for one in row["people"]] == ["Ada"] for row in merged_rows)
    assert list(find_violations("contact")) == list(find_violations("interactions")) == []
    # An interaction that was added since does not prevent the undo.
    add_interaction(api, ada, at="2026-02-25T12:00:00Z")
    api.ok("POST", f"/api/people/merge/{merged['mergeId']}/undo")
    assert last_contact(api, ada) == "2026-02-25"
    assert last_contact(api, bob) == before[bob.pk]
    rows_after_undo = [row for row in api.ok("GET", "/api/interactions")["interactions"] if row["at"] < "2026-02-25"]
    assert [(row["id"], row["people"]) for row in rows_after_undo] == [(row["id"], row["people"]) for row in rows]
    assert list(find_violations("contact")) == list(find_violations("interactions")) == []


def test_last_contact_survives_export_and_import(api: Client, alice: User, ada: Person) -> None:
    bob = make_person(alice, name="Bob", deleted_at=timezone.now())
    set_last_contact(api, ada, "2026-01-01")
    gone = add_interaction(api, ada, title="Gone")
    add_interaction(api, ada, at="2026-02-10T12:00:00Z", notes="Said hello")
    add_interaction(api, ada, at="2026-03-10T12:00:00Z")
    delete(api, gone)
    document = export_document(api)
    other = client_of(make_user("other@example.org"))
    receipt = other.ok("POST", "/api/user/import", document)
    assert receipt["errors"] == 0
    assert normalize_document(export_document(other)) == normalize_document(document)
    [copy] = other.ok("GET", "/api/people")["people"]
    assert copy["lastContact"] == "2026-02-10"
    assert other.ok("POST", "/api/user/import", document)["imported"] == 0
    for row in other.ok("GET", "/api/interactions")["interactions"]:
        delete(other, row)
    assert last_contact(other, copy["id"]) == "2026-01-01"
    assert list(find_violations("contact")) == list(find_violations("interactions")) == []
    assert bob.is_deleted


def test_import_without_its_people_is_reported(api: Client, ada: Person) -> None:
    add_interaction(api, ada)
    document = {**export_document(api), "people": []}
    other = client_of(make_user("other@example.org"))
    receipt = other.ok("POST", "/api/user/import", document)
    [wrong] = [row for row in receipt["results"] if row["status"] == "error"]
    assert wrong["section"] == "interactions"


@pytest.mark.django_db(transaction=True)
def test_concurrent_writers_leave_the_latest_date(alice: User) -> None:
    ada = make_person(alice)
    days = [f"2026-02-{day:02}T12:00:00Z" for day in range(10, 18)]
    rows = run_concurrently(*(partial(_add_and_delete, alice, ada, day) for day in days))
    left = max(row["at"] for row in rows if row)
    assert last_contact(client_of(alice), ada) == left[:10]
    assert Interaction.objects.owned_by(alice).active().count() == sum(bool(row) for row in rows)
    assert list(find_violations("contact")) == list(find_violations("interactions")) == []


def _add_and_delete(owner: User, person: Person, at: str) -> dict[str, Any] | None:
    """Add an interaction; the ones on odd days are deleted again. Returns the remaining one."""
    api = client_of(owner)
    row = add_interaction(api, person, at=at)
    if int(at[8:10]) % 2:
        delete(api, row)
        return None
    return row
