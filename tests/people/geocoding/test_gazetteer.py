"""Addresses stand in their town where nobody was asked for their place."""

import os
import sqlite3
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from accounts.models import User
from contacts_project.kernel.zstd import compress, decompress
from people.checks import check_gazetteer
from people.geocoding import gazetteer
from people.geocoding.gazetteer import DATA_FILE, LARGE_TOWN, TownQuery, find_towns, nearest_towns, place_key
from people.tasks import geocode
from tests.builders import make_person
from tests.client import Client

pytestmark = pytest.mark.one_database


@pytest.mark.parametrize(
    ("locality", "region", "country", "found"),
    [
        ("Porto", "", "Portugal", ("PT", "Europe/Lisbon")),
        ("porto ", "", "pt", ("PT", "Europe/Lisbon")),
        ("Porto", "", "", ("PT", "Europe/Lisbon")),
        ("München", "", "Deutschland", ("DE", "Europe/Berlin")),
        ("Munich", "", "Germany", ("DE", "Europe/Berlin")),
        ("MÜNCHEN", "", "DEU", ("DE", "Europe/Berlin")),
        ("東京", "", "日本", ("JP", "Asia/Tokyo")),
        ("東京都", "", "JP", ("JP", "Asia/Tokyo")),
        ("北京", "", "China", ("CN", "Asia/Shanghai")),
        ("서울", "", "KR", ("KR", "Asia/Seoul")),
        ("Αθήνα", "", "Ελλάδα", ("GR", "Europe/Athens")),
        ("Москва", "", "Россия", ("RU", "Europe/Moscow")),
        ("St. Gallen", "", "Schweiz", ("CH", "Europe/Zurich")),
        ("Mailand", "", "Italien", ("IT", "Europe/Rome")),
        ("Tromsø", "", "Norge", ("NO", "Europe/Oslo")),
        ("Springfield", "IL", "USA", ("US", "America/Chicago")),
        ("Springfield", "Massachusetts", "United States", ("US", "America/New_York")),
        # Regions as the country's post writes them.
        ("川崎市", "神奈川県", "日本", ("JP", "Asia/Tokyo")),
        ("Palmas", "TO", "Brasil", ("BR", "America/Araguaina")),
        ("Palmas", "", "Brasil", None),
        ("광주", "광주광역시", "KR", ("KR", "Asia/Seoul")),
        # Countries by names that the CLDR does not have.
        ("Edinburgh", "", "Scotland", ("GB", "Europe/London")),
        ("Cambridge", "", "England", ("GB", "Europe/London")),
        ("Cardiff", "", "Wales", ("GB", "Europe/London")),
        ("Belfast", "", "Northern Ireland", ("GB", "Europe/London")),
        ("Hong Kong", "", "Hong Kong", ("HK", "Asia/Hong_Kong")),
        ("Macau", "", "Macau", ("MO", "Asia/Macau")),
        ("Halle (Saale)", "", "DE", ("DE", "Europe/Berlin")),
        # Several of 15,000 people or more.
        ("Halle", "", "DE", None),
        ("Springfield", "", "USA", None),
        ("Springfield", "Bavaria", "USA", None),
        ("Paris", "", "", None),
        # Small ones of which several have the name.
        ("Neustadt", "", "DE", None),
        ("Porto", "", "Narnia", None),
        ("Nowhere", "", "Portugal", None),
        ("", "", "Portugal", None),
        ("", "Bavaria", "DE", None),
        ("'; DROP TABLE town; --", "", "", None),
        ("\0", "%", "_", None),
        ("x" * 10_000, "y" * 10_000, "z" * 10_000, None),
    ],
)
def test_town_of_an_address(locality: str, region: str, country: str, found: tuple[str, str] | None) -> None:
    query = TownQuery(locality, region, country)
    town = find_towns([query]).get(query)
    assert (town and (town.country, town.timezone)) == found


def test_accents_tell_large_towns_apart() -> None:
    """Münster has 300,000 people, Munster 17,000; who writes no accents may mean the larger."""
    spellings = ["Münster", "MÜNSTER", "Mu\u0308nster", "Munster"]
    queries = [TownQuery(spelling, "", "DE") for spelling in spellings]
    found = find_towns(queries)
    assert [query in found and found[query].region for query in queries] == ["07", "07", "07", False]


def test_most_frequent_country_decides_for_addresses_without_one() -> None:
    paris = TownQuery("Paris", "", "")
    usual = [TownQuery("Lyon", "", "France"), TownQuery("Nice", "", "FR"), TownQuery("Dallas", "TX", "USA")]
    assert find_towns([paris, *usual])[paris].country == "FR"
    texan = [TownQuery("Dallas", "", "USA"), TownQuery("Austin", "", "US")]
    assert find_towns([paris, *texan])[paris].region == "TX"
    # Each address counts, also where several people live in one town.
    lyon = [TownQuery("Lyon", "", "FR")] * 3
    assert find_towns([paris, *texan, *lyon])[paris].country == "FR"
    # What the usual country does not have may be elsewhere.
    porto = TownQuery("Porto", "", "")
    assert find_towns([porto, *texan])[porto].country == "PT"


@pytest.mark.parametrize(
    ("place", "timezone"),
    [
        ((52.5, 13.4), "Europe/Berlin"),
        ((-16.9, 179.9), "Pacific/Fiji"),
        ((-16.9, -179.99), "Pacific/Fiji"),
        ((78.2, 15.6), "Arctic/Longyearbyen"),
        ((90.0, 180.0), None),
        ((-90.0, -180.0), None),
        ((0.0, -30.0), None),
    ],
)
def test_nearest_town(place: tuple[float, float], timezone: str | None) -> None:
    town = nearest_towns([place]).get(place)
    assert (town and town.timezone) == timezone


def test_nearest_town_is_the_nearest_of_all() -> None:
    places = [(47.37 + step / 7, 8.54 + step / 5) for step in range(12)]
    with sqlite3.connect(gazetteer.unpack()) as database:
        columns = ", ".join(gazetteer.Town._fields)
        towns = [gazetteer.Town(*row) for row in database.execute(f"SELECT {columns} FROM town")]
    for place, town in nearest_towns(places).items():
        assert gazetteer._distance(town, place) == min(gazetteer._distance(other, place) for other in towns)


def test_gazetteer_has_the_towns_of_fifteen_thousand_people_and_says_whose_it_is() -> None:
    text = decompress(DATA_FILE.read_bytes()).decode()
    lines = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    towns = [line for line in lines if line[1] != "="]
    assert sum(int(line[6]) >= LARGE_TOWN for line in towns) > 30_000
    assert "GeoNames" in text.splitlines()[0]
    assert "CC BY 4.0" in text.splitlines()[0]
    assert DATA_FILE.stat().st_size <= 4_000_000
    # The file has keys as today's code makes them.
    assert [key for line in towns[::97] for key in filter(None, line[7].split("|")) if place_key(key) != key] == []


@pytest.fixture
def few_towns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gazetteer of Portugal: how many towns there are proves nothing about a file that is made anew."""
    lines = decompress(DATA_FILE.read_bytes()).splitlines(keepends=True)
    part = tmp_path.with_name(f"{tmp_path.name}.tsv.zst")
    part.write_bytes(compress(b"".join(line for line in lines if line.startswith(b"PT\t"))))
    monkeypatch.setattr(gazetteer, "DATA_FILE", part)
    monkeypatch.setattr(gazetteer, "_version", lambda: "part")  # which is kept


@pytest.mark.usefixtures("few_towns")
def test_processes_may_unpack_at_the_same_time(settings: LazySettings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    (tmp_path / "gazetteer-of-before.sqlite3").write_bytes(b"")
    (tmp_path / "contacts.sqlite3").write_bytes(b"")
    with ThreadPoolExecutor(3) as pool:
        files = set(pool.map(lambda _: gazetteer.unpack(), range(3)))
    assert {path.name for path in tmp_path.iterdir()} == {file.name for file in files} | {"contacts.sqlite3"}
    porto = TownQuery("Porto", "", "PT")
    assert find_towns([porto])[porto].country == "PT"


def test_unpacking_takes_little_memory(settings: LazySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It happens in a worker, which would keep what it took: 240 MB for all towns at once, 22 MB for a ninth."""
    settings.DATA_DIR = tmp_path
    part = tmp_path / "part.tsv.zst"
    part.write_bytes(compress(b"".join(decompress(DATA_FILE.read_bytes()).splitlines(keepends=True)[:20_000])))
    monkeypatch.setattr(gazetteer, "DATA_FILE", part)
    monkeypatch.setattr(gazetteer, "_version", lambda: "part")  # which is kept
    tracemalloc.start()
    gazetteer.unpack()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4_000_000


def test_without_room_for_the_gazetteer_the_map_shows_what_has_coordinates(
    api: Client, alice: User, settings: LazySettings, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path / "missing"
    # First, as the end of a request may make the folder, for its metrics.
    [warning] = check_gazetteer(None)
    assert warning.msg.startswith("The map shows no towns: No such file")
    place = {"id": "l", "type": "home", "latitude": 41.15, "longitude": -8.61, "label": None}
    make_person(alice, locations=[place], addresses=[{"id": "a", "type": "home", "locality": "Porto"}])
    found = api.ok("get", "/api/map/markers")
    assert [(marker["id"], marker["timezone"], marker["town"]) for marker in found["markers"]] == [("l", None, None)]
    assert [entry["entryId"] for entry in found["unknown"]] == ["a"]


@pytest.mark.usefixtures("few_towns")
@pytest.mark.parametrize("size", [0, 20_000, None])
def test_a_damaged_gazetteer_is_unpacked_again(
    api: Client, alice: User, settings: LazySettings, tmp_path: Path, size: int | None
) -> None:
    settings.DATA_DIR = tmp_path
    whole = gazetteer.unpack()
    assert whole.stat().st_size > 20_000
    whole.write_bytes(b"no database" * 10_000 if size is None else whole.read_bytes()[:size])
    place = {"id": "l", "type": "home", "latitude": 41.15, "longitude": -8.61, "label": None}
    make_person(alice, locations=[place], addresses=[{"id": "a", "type": "home", "locality": "Porto"}])
    api.ok("get", "/api/map/markers")
    markers = api.ok("get", "/api/map/markers")["markers"]
    assert [marker["timezone"] for marker in markers] == ["Europe/Lisbon"] * 2


@pytest.mark.parametrize("content", [b"", b"version https://git-lfs.github.com/spec/v1\n", None])
def test_without_whole_data_the_map_shows_what_has_coordinates(
    api: Client,
    alice: User,
    settings: LazySettings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    content: bytes | None,
) -> None:
    settings.DATA_DIR = tmp_path
    data = tmp_path / "data.zst"
    data.write_bytes(DATA_FILE.read_bytes()[:1_000_000] if content is None else content)
    monkeypatch.setattr(gazetteer, "DATA_FILE", data)
    gazetteer._version.cache_clear()
    try:
        make_person(alice, addresses=[{"id": "a", "type": "home", "locality": "Porto"}])
        assert [entry["entryId"] for entry in api.ok("get", "/api/map/markers")["unknown"]] == ["a"]
        assert [warning.id for warning in check_gazetteer(None)] == ["doctor.W055"]
    finally:
        gazetteer._version.cache_clear()
    assert list(tmp_path.glob("gazetteer-*")) == []


@pytest.mark.usefixtures("few_towns")
def test_what_killed_processes_began_to_unpack_is_removed(settings: LazySettings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    for name, age in (("gazetteer-old.new", 7200), ("gazetteer-other.new", 60)):
        (tmp_path / name).write_bytes(b"half")
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    file = gazetteer.unpack()
    assert {path.name for path in tmp_path.iterdir()} == {file.name, "gazetteer-other.new"}


@pytest.mark.django_db
def test_geocoding_goes_on_without_room_for_the_gazetteer(
    settings: LazySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATA_DIR = tmp_path / "missing"
    runs: list[object] = []
    monkeypatch.setattr("people.tasks.geocode_exclusively", runs.append)
    geocode()
    assert len(runs) == 1


def test_many_places_far_from_any_town_cost_little() -> None:
    # In the Bay of Biscay: towns that are near to none of the places are compared once, not with each of them.
    places = [(45.0 + step / 40_000, -3.0 + step % 97 / 400) for step in range(5000)]
    compared = 0
    distance = gazetteer._distance

    def count(town: gazetteer.Town, place: tuple[float, float]) -> float:
        nonlocal compared
        compared += 1
        return distance(town, place)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gazetteer, "_distance", count)
        found = nearest_towns(places)
    assert len(found) == len(places)
    assert compared < 200 * len(places)  # 707 for each without it
    with sqlite3.connect(gazetteer.unpack()) as database:
        columns = ", ".join(gazetteer.Town._fields)
        near = "latitude BETWEEN 42 AND 49 AND longitude BETWEEN -7 AND 1"
        towns = [gazetteer.Town(*row) for row in database.execute(f"SELECT {columns} FROM town WHERE {near}")]
    for place in places[::500]:
        assert distance(found[place], place) == min(distance(other, place) for other in towns)


def test_markers_say_how_precise_they_are(api: Client, alice: User) -> None:
    def address(key: str, **parts: Any) -> dict[str, Any]:
        empty = dict.fromkeys(("streetLine1", "streetLine2", "postalCode", "locality", "region", "country"))
        place = {"latitude": None, "longitude": None, "geocodeStatus": "failed"}
        return {"id": key, "type": "home", **empty, **place, **parts}

    person = make_person(
        alice,
        name="Ada",
        locations=[{"id": "hut", "type": "cabin", "latitude": 78.22, "longitude": 15.65, "label": None}],
        addresses=[
            address("exact", locality="Porto", latitude=41.15, longitude=-8.61, geocodeStatus="done"),
            address("town", streetLine1="Rua 1", locality="Porto", country="Portugal"),
            address("lost", locality="Nowhere", country="Portugal"),
            address("empty"),
        ],
    )
    found = api.ok("get", "/api/map/markers")
    assert [
        (marker["id"], marker["source"], marker["precision"], marker["timezone"], marker["town"])
        for marker in found["markers"]
    ] == [
        ("hut", "location", "address", "Arctic/Longyearbyen", {"name": "Longyearbyen", "country": "SJ"}),
        ("exact", "address", "address", "Europe/Lisbon", {"name": "Porto", "country": "PT"}),
        ("town", "address", "town", "Europe/Lisbon", {"name": "Porto", "country": "PT"}),
    ]
    town = found["markers"][2]
    assert (round(town["latitude"], 1), round(town["longitude"], 1)) == (41.1, -8.6)
    assert found["unknown"] == [{"personId": str(person.pk), "entryId": "lost"}]
    assert (found["failedCount"], found["geocodingEnabled"]) == (2, False)
    # A town is no address: what the person has stays as it is.
    addresses = api.ok("get", f"/api/people/{person.pk}")["person"]["addresses"]
    assert [entry["latitude"] for entry in addresses] == [41.15, None, None, None]
