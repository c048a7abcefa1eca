"""What an account stores in cards and photos has a limit in bytes."""

from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from carddav.models import PendingImport
from contacts_project.kernel.invariants import find_violations
from people.counts import PHOTO_BYTES, count_of
from people.models import AccountCount, Person, StoredPhoto, account_counts
from people.models.account_counts import CARD_BYTES, StorageLimitError, measure_cards
from tests.client import Client, client_of
from tests.dav.devices import Device
from tests.dav.test_writing import put
from tests.people.importing.uploads import import_vcards, vcard
from tests.pictures import jpeg_of_scans, upload

pytestmark = pytest.mark.django_db

LIMIT = 20_000


@pytest.fixture(autouse=True)
def limit(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.MAX_ACCOUNT_BYTES = LIMIT
    monkeypatch.setattr(account_counts, "_measured_at", {})


def card(number: int, size: int = 0) -> str:
    return vcard(f"UID:u-{number}", f"N:;P{number};;;", f"FN:P{number}", f"X-BIG:{'x' * size}").decode()


def counted(user: User) -> int:
    return AccountCount.objects.filter(owner=user, kind=CARD_BYTES).values_list("number", flat=True).get()


def a_minute_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account_counts, "_measured_at", {})


def note_measures(monkeypatch: pytest.MonkeyPatch) -> list[UUID]:
    """The accounts whose rows are measured from now on."""
    measured: list[UUID] = []

    def measure(owner_id: UUID) -> int:
        measured.append(owner_id)
        return measure_cards(owner_id)

    monkeypatch.setattr(account_counts, "measure_cards", measure)
    return measured


def test_a_card_of_a_device_beyond_the_limit_is_507_with_words_and_leaves_nothing(alice: User) -> None:
    device = Device(alice)
    assert put(device, "a.vcf", card(1, 9_000)).status_code == 201
    assert put(device, "b.vcf", card(2, 8_000)).status_code == 201
    refused = put(device, "c.vcf", card(3, 4_000))
    assert refused.status_code == 507
    assert "have reached the limit of" in refused.content.decode()
    assert sorted(Person.objects.owned_by(alice).values_list("name", flat=True)) == ["P1", "P2"]
    assert device.call("GET", f"{device.book}c.vcf").status_code == 404
    changed = put(device, "a.vcf", card(1, 12_500))
    assert changed.status_code == 507
    assert device.call("GET", f"{device.book}a.vcf").content.decode().count("x") < 9_100


def test_what_was_removed_for_good_makes_room(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device(alice)
    assert put(device, "a.vcf", card(1, 15_000)).status_code == 201
    assert put(device, "b.vcf", card(2, 8_000)).status_code == 507
    api = client_of(alice)
    (person,) = api.ok("GET", "/api/people")["people"]
    api.ok("DELETE", f"/api/people/{person['id']}")
    a_minute_later(monkeypatch)
    assert put(device, "b.vcf", card(2, 8_000)).status_code == 507, "what is in the trash is stored"
    api.ok("DELETE", f"/api/people/{person['id']}/permanent")
    a_minute_later(monkeypatch)
    assert put(device, "b.vcf", card(2, 8_000)).status_code == 201
    assert counted(alice) == measure_cards(alice.pk)


def test_a_card_that_is_written_again_and_again_does_not_fill_the_account(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = Device(alice)
    for number in range(6):
        a_minute_later(monkeypatch)
        assert put(device, "a.vcf", card(1, 8_000 + number)).status_code in {201, 204}


def test_an_account_below_the_limit_is_measured_once(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = note_measures(monkeypatch)
    device = Device(alice)
    for number in range(4):
        put(device, f"{number}.vcf", card(number, 1_000))
    assert measured == [alice.pk]
    assert counted(alice) >= measure_cards(alice.pk) > 4_000


def test_a_full_account_is_measured_once_a_minute(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device(alice)
    put(device, "a.vcf", card(1, 15_000))
    measured = note_measures(monkeypatch)
    assert [put(device, f"b{number}.vcf", card(2, 8_000)).status_code for number in range(3)] == [507] * 3
    assert measured == [alice.pk]


def test_a_person_without_lines_of_a_card_asks_nothing(alice: User) -> None:
    with CaptureQueriesContext(connection) as queries:
        client_of(alice).ok("POST", "/api/people", {"name": "Ada"}, status=201)
    assert not [query for query in queries if CARD_BYTES in query["sql"]]


def test_an_import_stores_whole_cards_and_says_which_it_refused(api: Client, alice: User) -> None:
    receipt = import_vcards(api, "".join(card(number, 3_000) for number in range(8)).encode())
    people = Person.objects.owned_by(alice)
    assert 0 < people.count() < 8
    assert receipt["imported"] == people.count()
    assert measure_cards(alice.pk) <= LIMIT
    assert "have reached the limit of" in str(receipt)


def test_pending_cards_count(api: Client, alice: User) -> None:
    PendingImport.objects.create(owner=alice, display_name="A", raw="x" * 15_000, digest="a")
    with pytest.raises(StorageLimitError):
        PendingImport.objects.bulk_create([PendingImport(owner=alice, display_name="B", raw="x" * 6_000, digest="b")])


def test_photos_count_beside_cards(api: Client, alice: User, media: Any, settings: Any) -> None:
    person = api.ok("POST", "/api/people", {"name": "Ada"}, status=201)["person"]["id"]
    put(Device(alice), "a.vcf", card(1, 5_000))
    settings.MAX_ACCOUNT_BYTES = counted(alice) + 10
    refused = upload(api, f"/api/people/{person}/photo", jpeg_of_scans(1, (256, 256)))
    assert refused.status_code == 413
    assert refused.json()["code"] == "too_large"
    assert "have reached the limit of" in refused.json()["error"]
    assert count_of(alice.pk, PHOTO_BYTES) == StoredPhoto.objects.filter(owner=alice).count() == 0


def test_the_limit_is_that_of_one_account(alice: User, mallory: User) -> None:
    assert put(Device(mallory), "a.vcf", card(1, 19_000)).status_code == 201
    assert put(Device(alice), "a.vcf", card(1, 15_000)).status_code == 201


def test_doctor_finds_an_account_that_was_counted_too_low(alice: User) -> None:
    put(Device(alice), "a.vcf", card(1, 5_000))
    what = "accounts store more bytes of cards than were counted"
    assert what not in [violation.broken for violation in find_violations()]
    AccountCount.objects.filter(owner=alice, kind=CARD_BYTES).update(number=4_000)
    assert [violation.examples for violation in find_violations() if violation.broken == what] == [(str(alice.pk),)]
