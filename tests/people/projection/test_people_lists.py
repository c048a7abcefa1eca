"""The people list, search and their caching: pages, order, parameters, ETags."""

from typing import Any
from urllib.parse import quote

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import User
from contacts_project.kernel.text_forms import fold
from people.models import Person
from tests.builders import make_person
from tests.client import Client
from tests.rounds import database_settings

pytestmark = pytest.mark.sqlite_suffices

NAMES = ["Ada", "ada", "ÁDA", "Zoë", "Zoe", "Ægir", "ß", "SS", "山田", "Éva", "eve", "O'Neill", "\u0301", "Łukasz"]


@pytest.mark.both_databases
@database_settings(10)
@given(
    names=st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from([None, *NAMES])), max_size=25),
    limit=st.integers(1, 9),
)
def test_paging_visits_each_person_once_in_order(
    api: Client, alice: User, names: list[tuple[str, str | None]], limit: int
) -> None:
    Person.objects.owned_by(alice).delete()
    made = {str(make_person(alice, name=name, surname=surname).pk) for name, surname in names}
    seen: list[dict[str, Any]] = []
    offset = 0
    while True:
        page = api.ok("get", f"/api/people?limit={limit}&offset={offset}")
        seen += page["people"]
        more = offset + limit < len(made)
        assert page["pagination"] == {"total": len(made), "limit": limit, "offset": offset, "hasMore": more}
        if not more:
            break
        offset += limit
    assert sorted(person["id"] for person in seen) == sorted(made)
    keys = [(fold(person["name"]).encode(), fold(person["surname"] or "").encode(), person["id"]) for person in seen]
    assert keys == sorted(keys)
    everybody = api.ok("get", f"/api/people?includeAll=true&limit={limit}&offset=3")["people"]
    assert [person["id"] for person in everybody] == [person["id"] for person in seen]


@pytest.mark.both_databases
def test_default_and_cap_of_limit(api: Client, alice: User) -> None:
    Person.objects.bulk_create(Person(owner=alice, name=f"P{n}", sort_key=b"%04d" % n) for n in range(501))
    assert len(api.ok("get", "/api/people")["people"]) == 100
    page = api.ok("get", "/api/people?limit=501")
    assert len(page["people"]) == 500
    assert page["pagination"] == {"total": 501, "limit": 500, "offset": 0, "hasMore": True}
    assert api.ok("get", f"/api/people?limit={10**30}")["pagination"]["limit"] == 500
    beyond = api.ok("get", f"/api/people?offset={2**53 - 1}")
    assert beyond["people"] == []
    assert beyond["pagination"]["hasMore"] is False


@pytest.mark.parametrize(
    ("query", "field"),
    [
        *(
            (f"limit={value}", "limit")
            for value in ("0", "-1", "x", "", "1.5", "1e3", "%D9%A3", "%2B5", "1%00", "9" * 60)
        ),
        *((f"offset={value}", "offset") for value in ("-1", "x", "", "0.0", str(2**63))),
        *((f"includeDetails={value}", "includeDetails") for value in ("1", "yes", "", "tru")),
        ("includeAll=x", "includeAll"),
    ],
)
def test_invalid_parameters_are_refused(api: Client, query: str, field: str) -> None:
    response = api.call("get", f"/api/people?{query}")
    assert response.status_code == 400
    assert [detail["field"] for detail in response.json()["details"]] == [field]


@pytest.mark.parametrize("word", ["true", "True", "TRUE"])
def test_flags_are_accepted_in_any_case(api: Client, word: str) -> None:
    assert "pagination" not in api.ok("get", f"/api/people?includeAll={word}")


@pytest.mark.both_databases
def test_people_of_at_least_one_group(api: Client) -> None:
    groups = [api.ok("post", "/api/groups", {"name": name}, status=201)["group"]["id"] for name in "abc"]
    for name, own in (("A", groups[:1]), ("B", groups[1:2]), ("AB", groups[:2]), ("none", [])):
        api.ok("post", "/api/people", {"name": name, "groupIds": own}, status=201)

    def found(ids: str) -> list[str]:
        page = api.ok("get", f"/api/people?groupIds={ids}&limit=10")
        assert page["pagination"]["total"] == len(page["people"])
        return [person["name"] for person in page["people"]]

    assert found(groups[0]) == ["A", "AB"]
    assert found(f"{groups[0]},{groups[1]}") == ["A", "AB", "B"]
    assert found(f" {groups[0]} , nonsense,") == ["A", "AB"]
    assert found(groups[2]) == []
    assert found("nonsense") == []
    api.ok("delete", f"/api/groups/{groups[0]}")
    assert found(groups[0]) == []
    everybody = api.ok("get", f"/api/people?includeAll=true&groupIds={groups[1]}")["people"]
    assert [person["name"] for person in everybody] == ["AB", "B"]


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("ada", ["Ada", "Ádám"]),
        ("ADÁ", ["Ada", "Ádám"]),
        ("lovelace", ["Ada"]),
        ("ada lovelace", ["Ada"]),
        ("ada augusta", ["Ada"]),
        ("lovelace king-noel ada", ["Ada"]),
        ("countess", ["Ada"]),
        ("king-noel", ["Ada"]),
        ("strasse", ["Weg"]),
        ("Straße", ["Weg"]),
        ("100%", ["100%"]),
        ("%", ["100%"]),
        ("_", ["_x"]),
        ("\\", ["a\\b"]),
        ("山", ["山田"]),
        (" ada ", ["Ada", "Ádám"]),
        ("'; --", []),
        ("zzz", []),
    ],
)
def test_search(api: Client, alice: User, text: str, names: list[str]) -> None:
    make_person(
        alice, name="Ada", middle_name="Augusta", surname="Lovelace", second_last_name="King-Noel", nickname="Countess"
    )
    for name in ("Ádám", "100%", "_x", "a\\b", "山田"):
        make_person(alice, name=name)
    make_person(alice, name="Weg", surname="Straße")
    make_person(alice, name="Ada gone", deleted_at=timezone.now())
    found = api.ok("get", f"/api/people/search?q={quote(text)}")["people"]
    assert [person["name"] for person in found] == names


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("山田花子", True),
        ("花子山田", True),
        ("山田 花子", True),
        ("田花", True),
        ("やまだはなこ", True),
        ("山田太郎", False),
        ("子山田花", False),  # the end of one order and the beginning of the next
    ],
)
def test_search_finds_a_name_as_it_is_written_without_spaces(
    api: Client, alice: User, text: str, is_found: bool
) -> None:
    make_person(alice, name="花子", surname="山田", phonetic_name="はなこ", phonetic_surname="やまだ")
    assert len(api.ok("get", f"/api/people/search?q={quote(text)}")["people"]) == is_found


def test_search_returns_the_first_twenty(api: Client, alice: User) -> None:
    for number in range(25):
        make_person(alice, name=f"Ada {24 - number:02}")
    found = api.ok("get", "/api/people/search?q=a")["people"]
    assert [person["name"] for person in found] == [f"Ada {number:02}" for number in range(20)]


@pytest.mark.parametrize("query", ["", "?q=", "?q=%20%09", "?q=%00", f"?q={'x' * 501}"])
def test_search_needs_a_text(api: Client, query: str) -> None:
    response = api.call("get", f"/api/people/search{query}")
    assert response.status_code == 400
    assert response.json()["details"][0]["field"] == "q"


CONDITIONAL_PATHS = ["/api/people", "/api/people?includeAll=true", "/api/people/search-index", "/api/people/{id}"]


@pytest.mark.parametrize("path", CONDITIONAL_PATHS)
def test_an_unchanged_response_is_304(api: Client, alice: User, path: str) -> None:
    path = path.replace("{id}", str(make_person(alice).pk))
    first = api.call("get", path)
    assert first["Cache-Control"] == "private, no-cache"
    assert first["ETag"].startswith('"')
    repeated = api.call("get", path, HTTP_IF_NONE_MATCH=first["ETag"])
    assert (repeated.status_code, repeated.content, repeated["ETag"]) == (304, b"", first["ETag"])
    assert api.call("get", path, HTTP_IF_NONE_MATCH='"other"').status_code == 200
    for several in (f'"other", {first["ETag"]}', f'W/{first["ETag"]},"other"', "*"):  # RFC 9110, section 13.1.2
        assert api.call("get", path, HTTP_IF_NONE_MATCH=several).status_code == 304


def test_missing_record_is_404_even_with_if_none_match(api: Client, alice: User) -> None:
    gone = make_person(alice, deleted_at=timezone.now())
    assert api.call("get", f"/api/people/{gone.pk}", HTTP_IF_NONE_MATCH="*").status_code == 404


def test_every_write_changes_the_etags(api: Client) -> None:
    person = api.ok("post", "/api/people", {"name": "Ada"}, status=201)["person"]["id"]
    other = api.ok("post", "/api/people", {"name": "Eve"}, status=201)["person"]["id"]
    group = api.ok("post", "/api/groups", {"name": "All"}, status=201)["group"]["id"]
    paths = [path.replace("{id}", person) for path in CONDITIONAL_PATHS]
    writes: list[tuple[str, str, Any]] = [
        ("put", f"/api/people/{person}", {"surname": "King"}),
        ("put", f"/api/people/{person}", {"groupIds": [group]}),
        ("put", f"/api/groups/{group}", {"name": "Some"}),
        ("delete", f"/api/people/{other}", None),
        ("post", f"/api/people/{other}/restore", None),
        ("put", f"/api/people/{person}", {"importantDates": [{"title": "x", "date": "2020-01-01"}]}),
        ("put", "/api/user/name-order", {"nameOrder": "EASTERN"}),
    ]
    for method, address, body in writes:
        tags = {path: api.call("get", path)["ETag"] for path in paths}
        api.ok(method, address, body)
        for path, tag in tags.items():
            # A record's ETag does not change with other records, nor with the order in which names are shown.
            if not (person in path and (other in address or address.startswith("/api/user/"))):
                assert api.call("get", path, HTTP_IF_NONE_MATCH=tag).status_code == 200, (path, address)


def test_etags_of_two_accounts_differ(api: Client, stranger: Client) -> None:
    tag = api.call("get", "/api/people")["ETag"]
    assert stranger.call("get", "/api/people", HTTP_IF_NONE_MATCH=tag).status_code == 200


def test_reading_changes_nothing(api: Client, alice: User) -> None:
    person = make_person(alice)
    before = Person.objects.owned_by(alice).values().get()
    for path in ("/api/people", "/api/people?includeAll=true", f"/api/people/{person.pk}", "/api/people/search?q=a"):
        api.ok("get", path)
    assert Person.objects.owned_by(alice).values().get() == before
