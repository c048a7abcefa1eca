"""The password of a device is revoked while it asks: it is refused, or gets its answer, and nothing breaks."""

from typing import Any

import pytest

from accounts.models import User
from accounts.services.deletion import delete_account
from contacts_project.kernel.invariants import find_violations
from dav import authentication, selection
from dav.cards import client_state, refresh
from dav.models import Device as DeviceRow
from dav.models import GivenCard, Refusal
from dav.services import card_write, refusals
from people.models import Person
from tests.client import client_of
from tests.concurrency import run_concurrently
from tests.dav.devices import Device, card, signed_in
from tests.dav.test_selection import configure, row_of

# The doctor looks at the rows of the schedule, too.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("schedule")]


def delete_account_before(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, user: User) -> None:
    """Delete the account when this function is called first."""
    function = getattr(module, name)

    def deleted(*args: Any, **kwargs: Any) -> Any:
        monkeypatch.setattr(module, name, function)
        delete_account(user=User.objects.get(pk=user.pk))
        return function(*args, **kwargs)

    monkeypatch.setattr(module, name, deleted)


def revoke_before(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, device: Device) -> None:
    """Revoke the password when this function is called first."""
    function = getattr(module, name)

    def revoked(*args: Any, **kwargs: Any) -> Any:
        monkeypatch.setattr(module, name, function)
        signed_in(device.user).ok("DELETE", f"/api/user/api-tokens/{row_of(device).pk}")
        return function(*args, **kwargs)

    monkeypatch.setattr(module, name, revoked)


@pytest.fixture
def device(alice: User) -> Device:
    device = Device(alice)
    device.put("a.vcf", card("NOTE:one"))
    return device


def assert_whole(user: User) -> None:
    assert not DeviceRow.objects.owned_by(user).exists()
    assert list(find_violations()) == []


def test_at_the_first_request(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device(alice)
    revoke_before(monkeypatch, authentication, "_record_visit", device)
    assert device.call("PROPFIND", device.book, HTTP_DEPTH="0").status_code == 401
    assert not DeviceRow.objects.owned_by(alice).exists()
    assert_whole(alice)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "MOVE"])
def test_at_a_write(alice: User, device: Device, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    before = list(Person.objects.owned_by(alice).values_list("pk", "notes", "deleted_at"))
    revoke_before(monkeypatch, card_write, "account_write", device)
    headers = {"HTTP_DESTINATION": f"{device.book}b.vcf", "content_type": "text/vcard"}
    assert device.call(method, f"{device.book}a.vcf", card("NOTE:two"), **headers).status_code == 401
    assert list(Person.objects.owned_by(alice).values_list("pk", "notes", "deleted_at")) == before
    assert_whole(alice)


def test_at_a_refusal(alice: User, device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    revoke_before(monkeypatch, refusals, "_list_again", device)
    assert device.put("a.vcf", "no card").status_code == 403
    assert not Refusal.objects.owned_by(alice).exists()
    assert_whole(alice)


def test_when_a_text_is_sent(alice: User, device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    client_of(alice).ok("PUT", f"/api/people/{Person.objects.owned_by(alice).get().pk}", {"notes": "other"})
    device.sync()
    revoke_before(monkeypatch, client_state, "account_lock", device)
    assert device.get("a.vcf").status_code == 200
    assert not GivenCard.objects.owned_by(alice).exists()
    assert_whole(alice)


def test_when_its_selection_is_read(alice: User, device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    configure(signed_in(alice), device, book={"favourites": True})
    revoke_before(monkeypatch, selection, "account_lock", device)
    assert device.sync().entries == {}
    assert_whole(alice)


@pytest.mark.parametrize(
    ("module", "name", "method", "body"),
    [
        (authentication, "_record_visit", "GET", ""),
        (refresh, "_finish", "PROPFIND", ""),
        (refresh, "account_lock", "PROPFIND", ""),
        (refresh, "account_lock", "PUT", card("NOTE:two")),
        (card_write, "account_write", "PUT", card("NOTE:two")),
        (card_write, "account_write", "DELETE", ""),
        (client_state, "account_lock", "GET", ""),
        (refusals, "account_lock", "PUT", "no card"),
        (refusals, "account_lock", "PUT", "x" * 2000),  # larger than a body may be
    ],
)
def test_account_deleted_meanwhile(
    alice: User,
    device: Device,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
    module: Any,
    name: str,
    method: str,
    body: str,
) -> None:
    settings.MAX_DAV_BYTES = 1000
    client_of(alice).ok("PUT", f"/api/people/{Person.objects.owned_by(alice).get().pk}", {"notes": "other"})
    delete_account_before(monkeypatch, module, name, alice)
    response = device.call(method, f"{device.book}a.vcf", body, HTTP_DEPTH="0", content_type="text/vcard")
    assert response.status_code == (403 if len(body) > 1000 else 401)
    assert not User.objects.filter(pk=alice.pk).exists()


def test_revoked_in_another_thread(alice: User) -> None:
    for _ in range(5):
        device = Device(alice)
        key = row_of(device).pk

        def revokes(key: Any = key) -> Any:
            return signed_in(alice).call("DELETE", f"/api/user/api-tokens/{key}").status_code

        def asks(device: Device = device) -> Any:
            found = [device.put("x.vcf", card()).status_code]
            return [*found, *(device.get("x.vcf").status_code for _ in range(3))]

        answers: list[Any] = run_concurrently(revokes, asks)
        assert answers[0] == 200
        assert set(answers[1]) <= {200, 201, 204, 401, 404, 412}
    assert_whole(alice)
