"""Idempotency-Key on POST: executed once, replayed for every repeat."""

import datetime as dt
from typing import Any
from uuid import UUID

import pytest
import time_machine
from django.utils import timezone

from accounts.models import StoredResponse, User
from accounts.services import stored_responses
from accounts.tasks import purge_budgets
from contacts_project.kernel.processes import this_process
from people.models import Group, Person
from tests.builders import make_person
from tests.client import Client
from tests.concurrency import repeat_concurrently
from tests.pictures import picture, upload

ADA = {"name": "Ada", "surname": "Lovelace"}


def post(client: Client, body: Any = ADA, *, key: str = "one", path: str = "/api/people") -> Any:
    return client.call("POST", path, body, HTTP_IDEMPOTENCY_KEY=key)


def test_repeated_request_runs_once(api: Client, alice: User) -> None:
    first, second = post(api), post(api)
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.content == second.content
    assert "Idempotent-Replayed" not in first
    assert second["Idempotent-Replayed"] == "true"
    assert second["Content-Type"] == first["Content-Type"]
    assert Person.objects.owned_by(alice).count() == 1


def test_order_of_fields_does_not_matter(api: Client) -> None:
    first = post(api, {"name": "Ada", "surname": "Lovelace"})
    second = post(api, {"surname": "Lovelace", "name": "Ada"})
    assert second.json() == first.json()


def test_other_body_with_the_same_key_is_refused(api: Client, alice: User) -> None:
    post(api)
    response = post(api, {"name": "Charles"})
    assert (response.status_code, response.json()["code"]) == (422, "idempotency_conflict")
    assert Person.objects.owned_by(alice).count() == 1


def test_keys_are_separate_for_each_route_and_account(api: Client, stranger: Client, alice: User) -> None:
    post(api)
    assert post(api, {"name": "Friends"}, path="/api/groups").status_code == 201
    assert "Idempotent-Replayed" not in post(stranger)
    assert Group.objects.owned_by(alice).count() == 1


@pytest.mark.parametrize("key", ["", " ", "a" * 256, "ä", "tab\tbed", "line\nbreak"])
def test_malformed_keys_are_refused(api: Client, key: str) -> None:
    response = post(api, key=key)
    assert response.status_code == 400
    assert response.json()["details"][0]["field"] == "Idempotency-Key"
    assert not StoredResponse.unscoped.exists()


@pytest.mark.parametrize("key", ["!", "a" * 255, "with blanks in it", "~"])
def test_printable_keys_are_accepted(api: Client, key: str) -> None:
    assert post(api, key=key).status_code == 201
    assert post(api, key=key)["Idempotent-Replayed"] == "true"


def test_refusals_are_stored(api: Client, alice: User) -> None:
    first = post(api, {"name": 5})
    assert first.status_code == 400
    revision = User.objects.get(pk=alice.pk).revision
    second = post(api, {"name": 5})
    assert (second.status_code, second.content) == (400, first.content)
    assert second["Idempotent-Replayed"] == "true"
    assert User.objects.get(pk=alice.pk).revision == revision


def test_invalid_request_does_not_raise_the_revision(api: Client, alice: User) -> None:
    revision = User.objects.get(pk=alice.pk).revision
    post(api, {"name": 5})
    assert User.objects.get(pk=alice.pk).revision == revision


def test_server_errors_are_not_stored(api: Client, alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    api.raise_request_exception = False
    with monkeypatch.context() as broken:
        broken.setattr("people.api.people.create_person", lambda **_: 1 / 0)
        assert post(api).status_code == 500
    assert not StoredResponse.unscoped.exists()
    assert not Person.objects.owned_by(alice).exists()  # it was one transaction
    assert post(api).status_code == 201


def test_key_is_free_after_a_day(api: Client, alice: User) -> None:
    now = timezone.now()
    post(api)
    with time_machine.travel(now + dt.timedelta(hours=23, minutes=59)):
        assert post(api)["Idempotent-Replayed"] == "true"
    with time_machine.travel(now + dt.timedelta(hours=24, minutes=1)):
        assert "Idempotent-Replayed" not in post(api)
    assert Person.objects.owned_by(alice).count() == 2


def test_old_responses_are_purged(api: Client) -> None:
    post(api)
    purge_budgets()
    assert StoredResponse.unscoped.count() == 1
    with time_machine.travel(timezone.now() + dt.timedelta(hours=25)):
        purge_budgets()
    assert not StoredResponse.unscoped.exists()


def hold_lease(holder: str) -> None:
    """Change the row to that of a request that is still running, or was killed."""
    until = timezone.now() + dt.timedelta(minutes=5)
    StoredResponse.unscoped.update(status=None, body=b"", claim=UUID(int=1), holder=holder, held_until=until)


def test_repeat_during_the_first_request_is_refused(api: Client) -> None:
    post(api)
    hold_lease(this_process())
    response = post(api)
    assert (response.status_code, response.json()["code"], response["Retry-After"]) == (409, "in_progress", "1")


def test_request_runs_again_after_its_process_was_killed(api: Client) -> None:
    post(api)
    hold_lease(this_process().rpartition(":")[0] + ":1")
    assert "Idempotent-Replayed" not in post(api)
    assert post(api)["Idempotent-Replayed"] == "true"


def test_a_request_whose_claim_was_taken_over_is_rolled_back(
    api: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = stored_responses._store

    def store(owner: User, claimed_row: Any, response: Any) -> None:
        StoredResponse.unscoped.update(claim=UUID(int=2))
        real(owner, claimed_row, response)

    monkeypatch.setattr(stored_responses, "_store", store)
    assert post(api).status_code == 409
    assert not Person.objects.owned_by(alice).exists()


def test_responses_that_show_a_secret_are_not_stored(alice: User) -> None:
    client = Client()
    client.force_login(alice)
    secrets = {post(client, {"name": "Mine"}, path="/api/user/api-tokens").json()["apiToken"]["token"] for _ in "ab"}
    assert len(secrets) == 2
    assert not StoredResponse.unscoped.exists()


def test_open_routes_ignore_the_key(db: None) -> None:
    client = Client()
    body = {"email": "new@example.org", "password": "Analytical-1843", "name": "New"}
    assert post(client, body, path="/api/auth/register").status_code == 201
    assert not StoredResponse.unscoped.exists()


def test_uploaded_files_are_compared_by_content(api: Client, alice: User) -> None:
    person = make_person(alice, name="Ada")
    path = f"/api/people/{person.pk}/photo"
    first = upload(api, path, picture(), HTTP_IDEMPOTENCY_KEY="photo")
    second = upload(api, path, picture(), HTTP_IDEMPOTENCY_KEY="photo")  # with another boundary
    assert second["Idempotent-Replayed"] == "true"
    assert second.json() == first.json()
    assert upload(api, path, picture("WEBP"), HTTP_IDEMPOTENCY_KEY="photo").status_code == 422


def test_vcard_file_is_imported_once(api: Client, alice: User) -> None:
    for is_replayed in (False, True):
        card = b"BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ada\r\nEND:VCARD\r\n"
        response = api.generic("POST", "/api/vcard/import", card, "text/vcard", HTTP_IDEMPOTENCY_KEY="cards")
        assert (response.status_code, response.json()["imported"]) == (200, 1)
        assert ("Idempotent-Replayed" in response) == is_replayed


@pytest.mark.django_db(transaction=True)
def test_concurrent_requests_with_one_key_run_once(alice: User) -> None:
    statuses = repeat_concurrently(alice, 6, lambda client, _: post(client))
    assert set(statuses) <= {201, 409}
    assert statuses[201] >= 1
    assert Person.objects.owned_by(alice).count() == 1


def test_stored_responses_of_an_account_are_limited(
    api: Client, stranger: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What would be more is answered, and not stored: a repeat runs again. The limit is that of one account."""
    monkeypatch.setattr(stored_responses, "MAX_BYTES", 8 * 1024)
    for number in range(20):
        assert post(api, {"name": f"Ada {number}"}, key=str(number)).status_code == 201
    rows = StoredResponse.objects.owned_by(alice)
    kept = rows.count()
    assert 2 <= kept < 8
    assert sum(len(row.body) + stored_responses.ROW_BYTES for row in rows) <= 8 * 1024
    assert not rows.filter(status=None).exists()
    assert "Idempotent-Replayed" in post(api, {"name": "Ada 0"}, key="0")
    assert "Idempotent-Replayed" not in post(api, {"name": "Ada 19"}, key="19")
    assert Person.objects.owned_by(alice).count() == 21
    post(stranger)
    assert "Idempotent-Replayed" in post(stranger)
    rows.filter(key_digest__in=list(rows.values_list("key_digest", flat=True)[:2])).delete()
    post(api, {"name": "Room again"}, key="room")
    assert "Idempotent-Replayed" in post(api, {"name": "Room again"}, key="room")


def test_refusals_count_against_the_limit_as_well(api: Client, alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_responses, "MAX_BYTES", 4 * 1024)
    for number in range(6):
        assert post(api, {"name": number}, key=str(number)).status_code == 400
    assert StoredResponse.objects.owned_by(alice).count() == 3
