"""Numbers, names and texts are found as they are written: GET /api/find and GET /api/people/search."""

from importlib import import_module
from typing import Any
from urllib.parse import quote

import pytest
from django.apps import apps
from django.db import connection

from contacts_project.kernel.invariants import find_violations
from people.excerpts import MAX_EXCERPT_LENGTH
from people.models import InteractionWord, LookupKey
from tests.client import Client
from tests.people.find.test_find import found_names, results
from tests.people.interactions.steps import add_interaction
from tests.people.same_entries import SAME
from tests.people.steps import create_person, create_template
from tests.queries import count_queries

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db(transaction=True)]

migration = import_module("people.migrations.0004_words_of_long_texts")


def search(api: Client, text: str) -> list[str]:
    return [person["name"] for person in api.ok("GET", f"/api/people/search?q={quote(text)}")["people"]]


#: Numbers, and what finds them, beside the pairs of tests.people.same_entries.
NUMBERS = [
    (
        "+49 170 1112233",
        ("0170 1112233", "0049 (0)170 1112233", "0170/111 22 33", "170 1112233", "tel:+49-170-1112233"),
    ),
    (
        "+49 170 1112233",
        (
            "٠١٧٠ ١١١٢٢٣٣",
            "０１７０－１１１２２３３",
            "＋４９ １７０ １１１２２３３",
            "0170\u2212111\u00b722_33",
            "2233",
        ),
    ),
    ("0170 1112233", ("+49 170 1112233", "0049 170 1112233", "011 49 170 1112233", "491701112233", "0170")),
    ("0800 FLOWERS", ("0800 flowers", "0800-FLOWERS", "0800 3569377")),
    ("+49 30 1234567 ext. 890", ("030 1234567 x890", "030 1234567;ext=890", "030 1234567 Durchwahl 890")),
    ("4711", ("4711", "47 11")),
]


@pytest.mark.parametrize(
    ("stored", "queries"),
    [
        *NUMBERS,
        *((case.one["number"], (case.other["number"],)) for case in SAME if case.field == "phoneNumbers"),
        *((case.other["number"], (case.one["number"],)) for case in SAME if case.field == "phoneNumbers"),
    ],
)
def test_a_number_is_found_in_any_spelling(api: Client, stored: str, queries: tuple[str, ...]) -> None:
    create_person(api, "Ada", phoneNumbers=[{"number": stored}])
    create_person(api, "Bob", phoneNumbers=[{"number": "+44 20 7946 0958"}])
    for query in queries:
        assert search(api, query) == ["Ada"], query
        assert [(row["person"]["displayName"], row["matched"], row["excerpt"]) for row in results(api, query)] == [
            ("Ada", ["phoneNumbers"], None)
        ], query


def test_search_of_numbers_begins_at_four_digits_and_goes_with_names(api: Client, stranger: Client) -> None:
    number = [{"number": "+49 170 1112233"}]
    create_person(stranger, "Mallory", phoneNumbers=number)
    gone = create_person(api, "Gone", phoneNumbers=number)
    api.ok("DELETE", f"/api/people/{gone}")
    create_person(api, "Zoe", phoneNumbers=number)
    create_person(api, "Agent 2233")
    create_person(api, "Bob", phoneNumbers=number)
    assert search(api, "2233") == ["Agent 2233", "Bob", "Zoe"]
    assert search(api, "223") == ["Agent 2233"]
    assert search(api, "0171 1112233") == search(api, "2233 11") == search(api, "0190 1112233") == []
    assert found_names(api, "0171 1112233") == found_names(api, "0190 1112233") == []


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "太郎", "surname": "山田"},
        {"name": "山田太郎"},
        {"name": "山田 太郎"},
        {"name": "太郎山田"},
        {"name": "太郎 山田"},
    ],
)
@pytest.mark.parametrize("query", ["山田太郎", "太郎山田", "山田 太郎", "太郎 山田", "山田\u3000太郎"])
def test_whole_names_without_spaces_are_found_in_either_order(api: Client, fields: dict[str, str], query: str) -> None:
    create_person(api, **fields)
    create_person(api, "太郎", surname="山本")
    assert search(api, query) == [fields["name"]]
    assert [row["matched"][0] for row in results(api, query)] == ["name"]


@pytest.mark.parametrize(
    "fields", [{"name": "伟", "surname": "王"}, {"name": "王伟"}, {"name": "김", "surname": "민수"}]
)
def test_short_names_without_spaces(api: Client, fields: dict[str, str]) -> None:
    create_person(api, **fields)
    name, surname = fields["name"], fields.get("surname", "")
    for query in (
        name + surname,
        surname + name,
        f"{name} {surname}",
        (name + surname)[::-1] if len(name + surname) == 2 else name,
    ):
        assert search(api, query) == [name], query
        assert len(results(api, query)) == 1, query


LONG = " ".join(f"word{number}" for number in range(1_000))
NOTES = f"{LONG} met at the harp festival in Zürich " + "and so on " * 30


@pytest.mark.parametrize(
    ("fields", "query", "matched", "part"),
    [
        ({"notes": NOTES}, "harp festival", ["notes"], "met at the harp festival in Zürich"),
        ({"notes": NOTES}, "zuerich", ["notes"], "harp festival in Zürich"),
        ({"notes": "人" * 5_000 + "会議で" + "々" * 4_000}, "会議", ["notes"], "会議で"),
        ({"notes": "x" * 9_990 + " harp"}, "harp", ["notes"], "harp"),
        ({"notes": "\n" * 2_000 + "harp"}, "harp", ["notes"], "harp"),
        ({"notes": "Likes\nthe harp."}, "harp", ["notes"], "Likes\nthe harp."),
        ({"customFields": [{"key": "Plays", "value": "a b c d " * 99 + "a harp"}]}, "harp", ["customFields"], "a harp"),
        ({"customFields": [{"key": "Plays", "value": "Harp"}]}, "plays", ["customFields"], "Plays: Harp"),
        ({"organization": "Harp", "notes": "A harp, a lute"}, "harp lute", ["organization", "notes"], "A harp, a lute"),
        ({"jobTitle": "Harpist"}, "harp", ["jobTitle"], "Harpist"),
        ({"emails": [{"email": "harp@example.org"}]}, "harp@example", ["emails"], "harp@example.org"),
        ({"surname": "Harp"}, "harp", ["surname"], None),
        ({"surname": "Harp", "notes": "A harp"}, "harp", ["surname", "notes"], "A harp"),
        ({"notes": "Born 2026-11-28 in Porto"}, "2026-11-28", ["notes"], "Born 2026-11-28 in Porto"),
    ],
)  # fmt: skip
def test_an_excerpt_shows_the_place(
    api: Client, fields: dict[str, Any], query: str, matched: list[str], part: str | None
) -> None:
    create_person(api, "Ada", **fields)
    [found] = results(api, query)
    assert found["matched"] == matched
    check_excerpt(found["excerpt"], part, [text for text in fields.values() if isinstance(text, str)])
    assert list(find_violations("look-up keys")) == []


def test_a_time_is_no_number(api: Client) -> None:
    create_person(api, "Ada", notes="Lunch at 12:30")
    create_person(api, "Bob", phoneNumbers=[{"number": "+49 170 1111230"}])
    assert [(row["person"]["displayName"], row["excerpt"]) for row in results(api, "12:30")] == [
        ("Ada", "Lunch at 12:30")
    ]
    assert search(api, "12:30") == []
    assert found_names(api, "1230") == search(api, "1230") == ["Bob"]


def check_excerpt(excerpt: str | None, part: str | None, texts: list[str]) -> None:
    if part is None or excerpt is None:
        assert excerpt == part
        return
    assert part in excerpt
    assert len(excerpt) <= MAX_EXCERPT_LENGTH
    for text in texts:
        if (bare := excerpt.strip("\u2026")) in text:
            assert excerpt.startswith("\u2026") == (not text.strip().startswith(bare))
            assert excerpt.endswith("\u2026") == (not text.strip().endswith(bare))


def test_excerpts_of_custom_values_and_interactions(api: Client) -> None:
    template = create_template(api, "Drink")
    long = f"{LONG} green tea without sugar"
    key = create_person(api, "Ada", customFieldValues=[{"templateId": template, "value": "Green tea"}])
    add_interaction(api, key, title="Concert", notes="Old harp")
    add_interaction(api, key, title="Concert", notes=long.replace("green tea", "lute"))
    [found] = results(api, "green")
    assert (found["matched"], found["excerpt"]) == (["customFieldValues"], "Green tea")
    [found] = results(api, "lute")
    assert found["matched"] == ["interactions"]
    check_excerpt(found["excerpt"], "lute without sugar", [long])
    assert [row["excerpt"] for row in results(api, "harp")] == ["Old harp"]
    assert [row["excerpt"] for row in results(api, "concert")] == ["Concert"]


def test_excerpts_take_no_more_statements_for_more_people(api: Client) -> None:
    template = create_template(api, "Drink")

    def add(number: int) -> None:
        values = [{"templateId": template, "value": "harp"}]
        key = create_person(api, f"Ada{number}", notes="harp", customFieldValues=values)
        add_interaction(api, key, title="harp")

    add(0)
    counts = []
    for number in (1, 12):
        counts.append([count_queries(results, api, query) for query in ("harp", "12-34-56")])
        counts[-1].append(count_queries(search, api, "12-34-56"))
        for more in range(number):
            add(number * 100 + more)
    assert counts[0] == counts[1]
    assert max(counts[0]) <= 6


def test_texts_of_an_earlier_version_get_all_their_words(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migration, "_TEXTS_AT_ONCE", 2)
    words = [f"w{number}" for number in range(1_003)]
    for name in "abc":
        key = create_person(api, name, notes=" ".join(words))
        add_interaction(api, key, title="Harp", notes=" ".join(words))
    LookupKey.objects.filter(kind=LookupKey.NOTE_WORD, key__in=words[1_000:]).delete()
    InteractionWord.objects.filter(key__in=words[1_000:]).delete()
    assert found_names(api, "w1002") == []
    for _ in range(2):
        with connection.schema_editor(atomic=False) as editor:
            migration.add_words(apps, editor)
        assert list(find_violations("look-up keys")) == list(find_violations("search words")) == []
        assert [row["matched"] for row in results(api, "w1002")] == [["notes", "interactions"]] * 3
