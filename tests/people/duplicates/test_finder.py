"""Duplicates through the API: groups, those of one person, dismissals."""

from typing import Any

import pytest

from tests.builders import UNKNOWN_ID
from tests.client import Client
from tests.people.steps import create_person
from tests.queries import count_queries

pytestmark = pytest.mark.sqlite_suffices


def groups(api: Client) -> list[list[str]]:
    return [[person["id"] for person in group["people"]] for group in api.ok("get", "/api/people/duplicates")["groups"]]


def duplicates(api: Client, person: str) -> list[str]:
    return [row["personId"] for row in api.ok("get", f"/api/people/{person}/duplicates")["duplicates"]]


def dismiss(api: Client, one: str, other: str, status: int = 200) -> Any:
    return api.ok("post", "/api/people/duplicates/dismiss", {"personAId": one, "personBId": other}, status=status)


def birthday(date: str, **more: Any) -> dict[str, Any]:
    return {"importantDates": [{"type": "BIRTHDAY", "date": date, **more}]}


def test_empty_account_has_no_duplicates(api: Client) -> None:
    assert api.ok("get", "/api/people/duplicates") == {"groups": []}


def test_groups_and_candidates_have_their_shape(api: Client) -> None:
    ada, twice = create_person(api, "Ada", "Lovelace", nickname="Countess"), create_person(api, "Ada", "Lovelace")
    create_person(api, "Grace", "Hopper")
    (group,) = api.ok("get", "/api/people/duplicates")["groups"]
    assert group == {
        "people": [{"id": ada, "name": 'Ada "Countess" Lovelace'}, {"id": twice, "name": "Ada Lovelace"}],
        "similarity": 0.88,
    }
    assert api.ok("get", f"/api/people/{twice}/duplicates") == {
        "duplicates": [{"personId": ada, "name": 'Ada "Countess" Lovelace', "similarity": 0.88}]
    }


DUPLICATES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("other order", {"name": "Ada", "surname": "Lovelace"}, {"name": "Lovelace", "surname": "Ada"}),
    ("one field", {"name": "Ada", "surname": "Lovelace"}, {"name": "Ada Lovelace"}),
    ("accents", {"name": "Zo\u00eb", "surname": "M\u00fcller"}, {"name": "Zoe", "surname": "Muller"}),
    ("typing error", {"name": "Ada", "surname": "Lovelace"}, {"name": "Ada", "surname": "Lovlace"}),
    ("first letter", {"name": "Catherine", "surname": "Jones"}, {"name": "Katherine", "surname": "Jones"}),
    ("initial", {"name": "A.", "surname": "Lovelace"}, {"name": "Ada", "surname": "Lovelace"}),
    ("nickname", {"name": "Robert", "surname": "Hill", "nickname": "Bob"}, {"name": "Bob", "surname": "Hill"}),
    ("middle name first", {"name": "King Ada Lovelace"}, {"name": "Ada", "middleName": "King", "surname": "Lovelace"}),
    ("Han", {"name": "\u592a\u90ce", "surname": "\u5c71\u7530"}, {"name": "\u5c71\u7530\u592a\u90ce"}),
    (
        "e-mail",
        {"name": "Ada", "emails": [{"email": "ADA@x.org"}]},
        {"name": "ada", "emails": [{"email": "ada@X.org"}]},
    ),
    (
        "phone",
        {"name": "Ada", "phoneNumbers": [{"number": "+49 151 2345678"}]},
        {"name": "Ada", "phoneNumbers": [{"number": "1"}, {"number": "0151/2345678"}]},
    ),
    (
        "landline of Hungary",
        {"name": "Ada", "phoneNumbers": [{"number": "+36 1 234 5678"}]},
        {"name": "Ada", "phoneNumbers": [{"number": "06 1 234 5678"}]},
    ),
    (
        "the second number of an entry",
        {"name": "Ada", "phoneNumbers": [{"number": "+34600111222; +34600111223"}]},
        {"name": "Ada", "phoneNumbers": [{"number": "600 111 223"}]},
    ),
    (
        "letters of a number",
        {"name": "Ada", "phoneNumbers": [{"number": "1-800-FLOWERS"}]},
        {"name": "Ada", "phoneNumbers": [{"number": "+1 800 356 9377"}]},
    ),
    ("birthday", {"name": "Ada", **birthday("1815-12-10")}, {"name": "Ada", **birthday("1815-12-10")}),
    (
        "misspelt on both sides, with a birthday",
        {"name": "Veronika", "surname": "Hartmann", **birthday("1815-12-10")},
        {"name": "Veronkia", "surname": "Hartamnn", **birthday("1815-12-10")},
    ),
]


@pytest.mark.parametrize(("one", "other"), [pair[1:] for pair in DUPLICATES], ids=[pair[0] for pair in DUPLICATES])
def test_a_pair_is_found_from_all_and_from_either(api: Client, one: dict[str, Any], other: dict[str, Any]) -> None:
    first, second = create_person(api, **one), create_person(api, **other)
    assert groups(api) == [[first, second]]
    assert duplicates(api, first) == [second]
    assert duplicates(api, second) == [first]


DIFFERENT_PEOPLE: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("lone given name", {"name": "Ada"}, {"name": "Ada"}),
    ("other birthday", {"name": "Ada", "surname": "Hill", **birthday("1990-01-01")},
     {"name": "Ada", "surname": "Hill", **birthday("1961-05-05")}),
    ("shared phone", {"name": "Ada", "surname": "Hill", "phoneNumbers": [{"number": "030 12345"}]},
     {"name": "Bob", "surname": "Hill", "phoneNumbers": [{"number": "030 12345"}]}),
    ("twins", {"name": "Lea", "surname": "Hill", **birthday("2001-01-01")},
     {"name": "Tim", "surname": "Hill", **birthday("2001-01-01")}),
    ("given names in another order", {"name": "María José", "surname": "García"},
     {"name": "José María", "surname": "García"}),
    ("given names in another order, one e-mail",
     {"name": "Hans Peter", "surname": "Hill", "emails": [{"email": "h@x.org"}]},
     {"name": "Peter Hans", "surname": "Hill", "emails": [{"email": "h@x.org"}]}),
    ("middle names in another order", {"name": "María", "middleName": "José", "surname": "García"},
     {"name": "José", "middleName": "María", "surname": "García"}),
    ("given names in another order, one with a middle name",
     {"name": "María", "middleName": "José", "surname": "García"},
     {"name": "José María", "surname": "García"}),
    ("given names in another order without surname", {"name": "María José"}, {"name": "José María"}),
    ("given names in another order, all in one field", {"name": "María José García"}, {"name": "José María García"}),
    ("day of the year alone", {"name": "Ada", **birthday("1990-01-01", yearUnknown=True)},
     {"name": "Ada", **birthday("1991-01-01")}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other"), [pair[1:] for pair in DIFFERENT_PEOPLE], ids=[pair[0] for pair in DIFFERENT_PEOPLE]
)
def test_different_people_are_not_duplicates(api: Client, one: dict[str, Any], other: dict[str, Any]) -> None:
    first = create_person(api, **one)
    create_person(api, **other)
    assert groups(api) == []
    assert duplicates(api, first) == []


def test_the_most_similar_come_first(api: Client) -> None:
    misspelt = create_person(api, "Ada", "Lovelase")
    ada = create_person(api, "Ada", "Lovelace", emails=[{"email": "a@x.org"}])
    with_email = create_person(api, "Ada", "Lovelace", emails=[{"email": "A@x.org"}])
    grace, hopper = create_person(api, "Grace", "Hopper"), create_person(api, "Grace", "Hopper")
    assert duplicates(api, ada) == [with_email, misspelt]
    assert groups(api) == [[misspelt, ada, with_email], [grace, hopper]]


def test_a_group_is_connected_and_its_people_stand_in_creation_order(api: Client) -> None:
    john, initial, jane = (
        create_person(api, "John", "Smith"),
        create_person(api, "J.", "Smith"),
        create_person(api, "Jane", "Smith"),
    )
    assert duplicates(api, john) == [initial]
    assert groups(api) == [[john, initial, jane]]


def test_a_group_has_at_most_fifty_people(api: Client) -> None:
    people = [create_person(api, "Ada", "Lovelace") for _ in range(60)]
    found = groups(api)
    assert [len(group) <= 50 for group in found] == [True] * len(found)
    assert len({person for group in found for person in group}) > 50
    assert len(duplicates(api, people[0])) == 59


def test_the_trash_and_other_accounts_are_left_out(api: Client, stranger: Client) -> None:
    first, second = create_person(api, "Ada", "Lovelace"), create_person(api, "Ada", "Lovelace")
    create_person(stranger, "Ada", "Lovelace")
    assert groups(stranger) == []
    api.ok("delete", f"/api/people/{second}")
    assert groups(api) == []
    assert duplicates(api, first) == []
    assert api.call("get", f"/api/people/{second}/duplicates").status_code == 404
    assert stranger.call("get", f"/api/people/{first}/duplicates").status_code == 404
    assert api.call("get", "/api/people/nobody/duplicates").status_code == 404


@pytest.mark.both_databases
def test_edited_people_are_compared_again(api: Client) -> None:
    first, second = create_person(api, "Ada", "Lovelace"), create_person(api, "Grace", "Hopper")
    api.ok("put", f"/api/people/{second}", {"name": "Ada", "surname": "Lovelace"})
    assert groups(api) == [[first, second]]
    api.ok("put", f"/api/people/{second}", {"surname": "Byron"})
    assert groups(api) == []


def test_a_dismissed_pair_is_not_suggested_again(api: Client) -> None:
    first, second = create_person(api, "Ada", "Lovelace"), create_person(api, "Ada", "Lovelace")
    assert dismiss(api, second, first) == {"dismissed": True}
    assert dismiss(api, first, second) == {"dismissed": True}
    assert groups(api) == []
    assert duplicates(api, first) == duplicates(api, second) == []


def test_people_may_be_connected_around_a_dismissed_pair(api: Client) -> None:
    people = [create_person(api, "Ada", "Lovelace") for _ in range(3)]
    dismiss(api, people[0], people[1])
    assert groups(api) == [people]
    dismiss(api, people[0], people[2])
    assert groups(api) == [people[1:]]


def test_invalid_dismissals_are_refused(api: Client, stranger: Client) -> None:
    mine, theirs = create_person(api, "Ada"), create_person(stranger, "Ada")
    assert dismiss(api, mine, mine, status=400)["details"][0]["field"] == "personBId"
    foreign, unknown = dismiss(api, mine, theirs, status=400), dismiss(api, mine, UNKNOWN_ID, status=400)
    assert foreign == unknown
    assert foreign["details"] == [
        {"field": "personBId", "message": "There is no such record.", "code": "no_such_record"}
    ]
    assert dismiss(api, theirs, mine, status=400)["details"][0]["field"] == "personAId"
    missing = api.ok("post", "/api/people/duplicates/dismiss", {}, status=400)["details"]
    assert {detail["field"] for detail in missing} == {"personAId", "personBId"}


@pytest.mark.both_databases
def test_the_number_of_queries_does_not_grow(api: Client) -> None:
    first = create_person(api, "Ada", "Lovelace", **birthday("1815-12-10"), emails=[{"email": "a@x.org"}])
    second = create_person(api, "Ada", "Lovelace", **birthday("1815-12-10"), emails=[{"email": "a@x.org"}])
    paths = ("/api/people/duplicates", f"/api/people/{first}/duplicates")
    before = [count_queries(api.ok, "get", path) for path in paths]
    for number in range(40):
        create_person(api, "Ada", "Lovelace", **birthday("1815-12-10"), phoneNumbers=[{"number": f"030 1234{number}"}])
        dismiss(api, first, second)
    assert [count_queries(api.ok, "get", path) for path in paths] == before


def test_a_display_name_follows_the_account(api: Client) -> None:
    create_person(api, "Ada", "Lovelace")
    create_person(api, "Ada", "Lovelace")
    api.ok("put", "/api/user/name-order", {"nameOrder": "EASTERN"})
    assert api.ok("get", "/api/people/duplicates")["groups"][0]["people"][0]["name"] == "Lovelace Ada"
