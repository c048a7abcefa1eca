"""Geocoding against a fake Nominatim on loopback: states, rate limit, preference, failures, kills."""

import datetime as dt
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson
import pytest
from django.conf import LazySettings
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from accounts.models import User
from people.geocoding import geocoder
from people.geocoding.geocoder import RETRY_DELAYS, GeocodingRun, geocode_due, geocode_exclusively
from people.models import GeocodedAddress, Person
from people.tasks import geocode
from tests.builders import make_person
from tests.client import Client, client_of
from tests.loopback import Received, Recorder, Reply, allow_loopback, closed_port, recording_server

pytestmark = pytest.mark.django_db(transaction=True)

BERLIN = {"type": "home", "streetLine1": "Unter den Linden 1", "locality": "Berlin", "country": "Germany"}
PARIS = {"type": "work", "locality": "Paris"}
PLACES = {
    "Unter den Linden 1, Berlin, Germany": (52.5163, 13.3777),
    "Paris": (48.8566, 2.3522),
}


def queried_address(request: Received) -> str:
    return parse_qs(urlsplit(request.path).query)["q"][0]


def answer(request: Received) -> Reply:
    place = PLACES.get(queried_address(request))
    found = [{"lat": str(place[0]), "lon": str(place[1]), "display_name": "x"}] if place else []
    return Reply(headers={"Content-Type": "application/json"}, body=orjson.dumps(found))


@pytest.fixture
def nominatim(settings: LazySettings) -> Iterator[Recorder]:
    with recording_server() as server:
        server.reply = answer
        settings.GEOCODER_URL = server.url
        settings.GEOCODER_INTERVAL_SECONDS = 0.001
        allow_loopback(settings)
        yield server


@pytest.fixture
def geocoding_alice(alice: User) -> User:
    """Alice, with geocoding enabled."""
    User.objects.filter(pk=alice.pk).update(geocoding_enabled=True)
    alice.refresh_from_db()
    return alice


def add_person(api: Client, *addresses: Any, name: str = "Ada") -> Any:
    return api.ok("post", "/api/people", {"name": name, "addresses": list(addresses)}, status=201)["person"]


def addresses(api: Client, person: Any) -> list[Any]:
    found: list[Any] = api.ok("get", f"/api/people/{person['id']}")["person"]["addresses"]
    return found


def states(api: Client, person: Any) -> list[str]:
    return [entry["geocodeStatus"] for entry in addresses(api, person)]


def queried_addresses(server: Recorder) -> list[str]:
    return [queried_address(request) for request in server.received]


def test_an_address_is_looked_up_and_copied(api: Client, geocoding_alice: User, nominatim: Recorder) -> None:
    person = add_person(api, BERLIN, PARIS)
    assert states(api, person) == ["pending", "pending"]
    ids = [entry["id"] for entry in person["addresses"]]
    etag = api.call("get", "/api/people")["ETag"]
    assert geocode_due(GeocodingRun()) == {"done": 2, "failed": 0, "later": 0}
    berlin, paris = addresses(api, person)
    assert (berlin["latitude"], berlin["longitude"], berlin["geocodeStatus"]) == (52.5163, 13.3777, "done")
    assert paris["geocodeStatus"] == "done"
    assert [berlin["id"], paris["id"]] == ids
    assert api.call("get", "/api/people", HTTP_IF_NONE_MATCH=etag).status_code == 200
    request = nominatim.received[0]
    assert urlsplit(request.path).path == "/search"
    assert parse_qs(urlsplit(request.path).query) == {
        "format": ["jsonv2"],
        "limit": ["1"],
        "q": ["Unter den Linden 1, Berlin, Germany"],
    }
    assert "alice" not in str(request.headers)


def test_address_text_is_geocoded_once_per_account(
    api: Client, geocoding_alice: User, nominatim: Recorder, mallory: User
) -> None:
    people = [add_person(api, {**PARIS, "type": kind}, name=kind) for kind in ("home", "work")]
    geocode_due(GeocodingRun())
    later = add_person(api, PARIS)
    assert states(api, later) == ["done"]
    assert all(states(api, person) == ["done"] for person in people)
    User.objects.filter(pk=mallory.pk).update(geocoding_enabled=True)
    add_person(client_of(mallory), PARIS)
    geocode_due(GeocodingRun())
    assert queried_addresses(nominatim) == ["Paris", "Paris"]


def test_nothing_is_sent_unless_the_account_enabled_geocoding(api: Client, alice: User, nominatim: Recorder) -> None:
    person = add_person(api, BERLIN)
    assert states(api, person) == ["skipped"]
    geocode_due(GeocodingRun())
    assert nominatim.received == []
    on_map = api.ok("get", "/api/map/markers")
    assert [marker["precision"] for marker in on_map["markers"]] == ["town"]
    assert (on_map["pendingCount"], on_map["failedCount"], on_map["geocodingEnabled"]) == (0, 0, False)


def test_nothing_is_sent_without_a_geocoder(
    api: Client, geocoding_alice: User, nominatim: Recorder, settings: LazySettings, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.GEOCODER_URL = ""
    person = add_person(api, BERLIN)
    call_command("geocode")
    assert "GEOCODER_URL" in capsys.readouterr().out
    assert states(api, person) == ["pending"]
    assert nominatim.received == []
    assert api.ok("get", "/api/map/markers")["pendingCount"] == 0  # it waits for nothing


def test_enabling_queues_what_was_skipped_and_disabling_stops(api: Client, alice: User, nominatim: Recorder) -> None:
    person = add_person(api, BERLIN)
    api.ok("put", "/api/user/geocoding", {"geocodingEnabled": True})
    assert api.ok("get", "/api/map/markers")["pendingCount"] == 1
    api.ok("put", "/api/user/geocoding", {"geocodingEnabled": False})
    geocode_due(GeocodingRun())
    assert nominatim.received == []
    assert states(api, person) == ["skipped"]
    api.ok("put", "/api/user/geocoding", {"geocodingEnabled": True})
    geocode_due(GeocodingRun())
    assert states(api, person) == ["done"]
    api.ok("put", "/api/user/geocoding", {"geocodingEnabled": False})
    other = add_person(api, PARIS, BERLIN)
    geocode_due(GeocodingRun())
    assert states(api, other) == ["skipped", "done"]
    assert queried_addresses(nominatim) == ["Unter den Linden 1, Berlin, Germany"]


def test_disabling_stops_between_two_requests(api: Client, geocoding_alice: User, nominatim: Recorder) -> None:
    person = add_person(api, *({"locality": f"Town {i}"} for i in range(5)))

    def disable_then_answer(request: Received) -> Reply:
        if len(nominatim.received) == 2:
            _in_thread(lambda: User.objects.filter(pk=geocoding_alice.pk).update(geocoding_enabled=False))
        return answer(request)

    nominatim.reply = disable_then_answer
    geocode_due(GeocodingRun())
    assert len(nominatim.received) == 2
    geocode_due(GeocodingRun())
    assert len(nominatim.received) == 2
    assert sorted(states(api, person)).count("skipped") >= 3


def _in_thread(act: Callable[[], object]) -> None:
    """Run `act` in a thread, with a database connection of its own; closes the connection."""

    def run() -> None:
        act()
        connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


def test_removed_address_is_not_geocoded(api: Client, geocoding_alice: User, nominatim: Recorder) -> None:
    person, gone = add_person(api, BERLIN), add_person(api, PARIS, name="Bob")
    api.ok("put", f"/api/people/{person['id']}", {"addresses": []})
    api.ok("delete", f"/api/people/{gone['id']}")
    geocode_due(GeocodingRun())
    assert nominatim.received == []
    assert not GeocodedAddress.unscoped.exists()
    api.ok("post", f"/api/people/{gone['id']}/restore")
    geocode_due(GeocodingRun())
    assert states(api, gone) == ["done"]


def test_address_unknown_to_the_provider_has_failed(api: Client, geocoding_alice: User, nominatim: Recorder) -> None:
    person = add_person(api, {"locality": "Nowhere"}, {"type": "empty"})
    assert geocode_due(GeocodingRun())["failed"] == 1
    assert [entry["geocodeStatus"] for entry in addresses(api, person)] == ["failed", None]
    assert api.ok("get", "/api/map/markers")["failedCount"] == 1
    geocode_due(GeocodingRun())
    assert len(nominatim.received) == 1


def test_an_undone_merge_is_geocoded_too(api: Client, geocoding_alice: User, nominatim: Recorder) -> None:
    ada, twin = add_person(api, BERLIN), add_person(api, PARIS)
    body = {"primaryId": ada["id"], "secondaryId": twin["id"]}
    merge = api.ok("post", "/api/people/merge", body)["mergeId"]
    geocode_due(GeocodingRun())
    assert states(api, ada) == ["done", "done"]
    api.ok("post", f"/api/people/merge/{merge}/undo")
    assert (states(api, ada), states(api, twin)) == (["done"], ["done"])


class Clock:
    """A clock that advances only when the code sleeps."""

    def __init__(self) -> None:
        self.current = timezone.now()

    def now(self) -> dt.datetime:
        return self.current

    def sleep(self, seconds: float) -> None:
        self.current += dt.timedelta(seconds=seconds)

    def run(self, seconds: float | None = None) -> GeocodingRun:
        return GeocodingRun(seconds=seconds, now=self.now, sleep=self.sleep)


@pytest.mark.split
@pytest.mark.parametrize(
    "reply",
    [
        Reply(500),
        Reply(429),
        Reply(403),
        Reply(302, {"Location": "http://127.0.0.1/"}),
        Reply(body=b"not json"),
        Reply(body=b'{"error": "x"}'),
        Reply(body=b"[5]"),
        Reply(body=b'[{"lat": "NaN", "lon": "1"}]'),
        Reply(body=b'[{"lat": "91", "lon": "1"}]'),
        Reply(body=b"[" + b" " * 100_000 + b"]"),
    ],
)
def test_failure_is_retried_a_limited_number_of_times(
    api: Client, geocoding_alice: User, nominatim: Recorder, reply: Reply
) -> None:
    person = add_person(api, BERLIN)
    nominatim.reply = reply
    clock = Clock()
    for attempt, wait in enumerate(RETRY_DELAYS, start=1):
        assert geocode_due(clock.run()) == {"done": 0, "failed": 0, "later": 1}
        assert geocode_due(clock.run())["later"] == 0
        assert states(api, person) == ["pending"]
        assert len(nominatim.received) == attempt
        clock.current += wait
    assert geocode_due(clock.run())["failed"] == 1
    assert states(api, person) == ["failed"]


def test_a_provider_that_is_down_recovers(
    api: Client, geocoding_alice: User, nominatim: Recorder, settings: LazySettings
) -> None:
    person = add_person(api, BERLIN)
    settings.GEOCODER_URL, url = f"http://127.0.0.1:{closed_port()}", settings.GEOCODER_URL
    clock = Clock()
    assert geocode_due(clock.run())["later"] == 1
    settings.GEOCODER_URL = url
    clock.current += RETRY_DELAYS[0]
    assert geocode_due(clock.run())["done"] == 1
    assert states(api, person) == ["done"]


def test_outbound_policy_applies(
    api: Client, geocoding_alice: User, nominatim: Recorder, settings: LazySettings
) -> None:
    settings.OUTBOUND_ALLOWED_NETWORKS = []
    add_person(api, BERLIN)
    assert geocode_due(GeocodingRun())["later"] == 1
    assert nominatim.received == []


def test_failing_provider_pauses_all_accounts(
    api: Client, geocoding_alice: User, nominatim: Recorder, mallory: User
) -> None:
    User.objects.filter(pk=mallory.pk).update(geocoding_enabled=True)
    add_person(client_of(mallory), PARIS)
    add_person(api, *({"locality": f"Town {i}"} for i in range(15)))
    nominatim.reply = Reply(429, {"Retry-After": "120"})
    clock = Clock()
    geocode_due(clock.run())
    geocode_due(clock.run(seconds=100))
    assert len(nominatim.received) == 1
    geocode_due(clock.run(seconds=30))
    assert len(nominatim.received) == 2


def test_at_most_one_request_a_second(
    api: Client, geocoding_alice: User, nominatim: Recorder, settings: LazySettings
) -> None:
    settings.GEOCODER_INTERVAL_SECONDS = 1.0
    add_person(api, *({"locality": f"Town {i}"} for i in range(13)))
    clock = Clock()
    request_times: list[dt.datetime] = []

    def reply(request: Received) -> Reply:
        request_times.append(clock.current)
        return answer(request)

    nominatim.reply = reply
    assert geocode_due(clock.run(seconds=5))["failed"] <= 6
    assert geocode_due(clock.run())["failed"] >= 7
    gaps = [after - before for before, after in pairwise(request_times)]
    assert len(request_times) == 13
    assert min(gaps) >= dt.timedelta(seconds=1)
    assert max(gaps) <= dt.timedelta(seconds=2)


def test_accounts_take_turns(api: Client, geocoding_alice: User, nominatim: Recorder, mallory: User) -> None:
    add_person(api, *({"locality": f"Town {i}"} for i in range(35)))
    User.objects.filter(pk=mallory.pk).update(geocoding_enabled=True)
    add_person(client_of(mallory), PARIS)
    geocode_due(GeocodingRun())
    assert queried_addresses(nominatim).index("Paris") <= geocoder.BATCH_SIZE
    assert len(nominatim.received) == 36


@pytest.mark.parametrize("point", ["find_place", "_save_result", "copy_results"])
def test_next_run_continues_after_a_killed_one(
    api: Client, geocoding_alice: User, nominatim: Recorder, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    person = add_person(api, BERLIN, PARIS)

    def die(*args: Any, **kwargs: Any) -> Any:
        raise KeyboardInterrupt

    clock = Clock()
    with monkeypatch.context() as patch:
        patch.setattr(geocoder, point, die)
        with pytest.raises(KeyboardInterrupt):
            geocode_exclusively(clock.run(seconds=50))
    clock.current += geocoder.LEASE
    geocode_exclusively(clock.run(seconds=50))
    assert states(api, person) == ["done", "done"]
    assert len(nominatim.received) <= 3
    assert GeocodedAddress.unscoped.filter(is_copied=False).count() == 0


def test_concurrent_claims_succeed_once(api: Client, geocoding_alice: User) -> None:
    add_person(api, BERLIN)
    row, now = GeocodedAddress.unscoped.get(), timezone.now()

    def claim(_: int) -> bool:
        try:
            return geocoder._claim(row, now)
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(claim, range(6))) == [False] * 5 + [True]
    assert GeocodedAddress.unscoped.get().attempts == 1


def test_second_task_leaves_the_work_to_the_first(api: Client, geocoding_alice: User, nominatim: Recorder) -> None:
    add_person(api, BERLIN)
    inner: list[Any] = []

    def reply(request: Received) -> Reply:
        _in_thread(lambda: inner.append(geocode_exclusively(GeocodingRun(seconds=1))))
        return answer(request)

    nominatim.reply = reply
    assert geocode_exclusively(GeocodingRun(seconds=50))["done"] == 1
    assert inner == [{"done": 0, "failed": 0, "later": 0}]
    assert len(nominatim.received) == 1
    geocode()
    geocode()
    assert len(nominatim.received) == 1


def test_command_reports_its_results(
    api: Client, geocoding_alice: User, nominatim: Recorder, capsys: pytest.CaptureFixture[str]
) -> None:
    add_person(api, BERLIN, {"locality": "Nowhere"})
    call_command("geocode")
    assert capsys.readouterr().out == "1 found, 1 not found, 0 to be tried again\n"


def test_imported_cards_are_geocoded_too(api: Client, geocoding_alice: User, nominatim: Recorder) -> None:
    card = b"BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ada\r\nN:;Ada;;;\r\nADR:;;;Paris;;;\r\nEND:VCARD\r\n"
    assert api.generic("POST", "/api/vcard/import", card, "text/vcard").status_code == 200
    geocode_due(GeocodingRun())
    assert queried_addresses(nominatim) == ["Paris"]
    assert api.ok("get", "/api/people")["people"][0]["addresses"][0]["latitude"] == 48.8566


def test_the_map_shows_every_place(api: Client, geocoding_alice: User, nominatim: Recorder) -> None:
    location = {"type": "cabin", "latitude": 60.5, "longitude": 8.25, "label": None}
    group = api.ok("post", "/api/groups", {"name": "g"}, status=201)["group"]
    body = {
        "name": "Ada",
        "surname": "Lovelace",
        "addresses": [BERLIN, {"locality": "Nowhere"}],
        "locations": [location, {**location, "label": "The hut"}],
        "groupIds": [group["id"]],
    }
    person = api.ok("post", "/api/people", body, status=201)["person"]
    before = api.ok("get", "/api/map/markers")
    assert (before["pendingCount"], len(before["markers"])) == (2, 3)
    assert [marker["precision"] for marker in before["markers"]] == ["address", "address", "town"]
    assert before["unknown"] == [{"personId": person["id"], "entryId": person["addresses"][1]["id"]}]
    geocode_due(GeocodingRun())
    found = api.ok("get", "/api/map/markers")
    assert (found["pendingCount"], found["failedCount"], found["geocodingEnabled"]) == (0, 1, True)
    assert [(marker["source"], marker["label"]) for marker in found["markers"]] == [
        ("location", "cabin"),
        ("location", "The hut"),
        ("address", "Unter den Linden 1, Berlin, Germany"),
    ]
    assert found["markers"][2] == {
        "id": person["addresses"][0]["id"],
        "source": "address",
        "personId": person["id"],
        "personName": "Ada Lovelace",
        "latitude": 52.5163,
        "longitude": 13.3777,
        "label": "Unter den Linden 1, Berlin, Germany",
        "precision": "address",
        "timezone": "Europe/Berlin",
        "town": {"name": "Berlin", "country": "DE"},
        "groupIds": [group["id"]],
    }
    api.ok("delete", f"/api/groups/{group['id']}")
    assert api.ok("get", "/api/map/markers")["markers"][0]["groupIds"] == []
    api.ok("delete", f"/api/people/{person['id']}")
    assert api.ok("get", "/api/map/markers")["markers"] == []


def test_the_map_costs_the_same_for_one_and_for_fifty(api: Client, alice: User, django_assert_num_queries: Any) -> None:
    place = [{"id": "x", "type": "home", "latitude": 1.0, "longitude": 2.0, "label": "x"}]
    api.ok("get", "/api/map/markers")
    for count in (1, 50):
        while Person.unscoped.count() < count:
            make_person(alice, locations=place)
        with django_assert_num_queries(3):
            assert len(api.ok("get", "/api/map/markers")["markers"]) == count


def test_write_without_addresses_does_not_query_the_table(
    api: Client, geocoding_alice: User, django_assert_max_num_queries: Any
) -> None:
    person = add_person(api, BERLIN)
    Person.unscoped.update(addresses=[{**person["addresses"][0], "geocodeStatus": "kept"}])
    api.ok("put", f"/api/people/{person['id']}", {"nickname": "A"})
    assert states(api, person) == ["kept"]
