"""The order of names of GET /api/people: the account's preference, `sort=surname`, phonetic names, pages."""

import random
from importlib import import_module
from itertools import product
from typing import Any

import pytest
from django.apps import apps
from django.db import connection

from accounts.models import User
from accounts.vocabularies import NameDisplayFormat, NameOrder
from contacts_project.kernel.text_forms import fold
from people.invariants import find_wrong_name_keys
from people.models import Person
from people.names import (
    EASTERN,
    FULL,
    NICKNAME_PREFERRED,
    SHORT,
    WESTERN,
    NameParts,
    build_shown_key,
    shown_key,
    sort_key,
)
from tests.client import Client
from tests.people.importing.uploads import import_vcards, vcard

pytestmark = pytest.mark.django_db

PEOPLE: list[dict[str, Any]] = [
    {"name": "Ada", "surname": "Zuse"},
    {"name": "ádam", "surname": "Ångström"},
    {"name": "Zoe", "surname": "angstrom"},
    {"name": "Bob"},
    {"name": "Émile", "surname": "Borel", "nickname": "Zz"},
    {"name": "Cid", "surname": "Borel", "prefix": "Dr."},
    {"name": "Cid", "surname": "Borel", "middleName": "B."},
    {"name": "Madonna", "displayNameOverride": "A star"},
    {"name": "伟", "surname": "王"},
    {"name": "王伟"},
    {"name": "太郎", "surname": "山田", "phoneticName": "たろう", "phoneticSurname": "やまだ"},
    {"name": "Иван", "surname": "Яшин"},
    {"name": "Яков", "surname": "Агеев"},
    {"name": "철수", "surname": "김"},
    {"name": "Quinn", "surname": "Xu", "phoneticSurname": "Ax"},
]


@pytest.fixture
def crowd(api: Client) -> list[dict[str, Any]]:
    bodies = random.Random(42).sample(PEOPLE, len(PEOPLE))
    return [api.ok("POST", "/api/people", body, status=201)["person"] for body in bodies]


def ids(api: Client, query: str = "") -> list[str]:
    """The ids on all pages of three people, which must be those of all at once."""
    found: list[str] = []
    while True:
        page = api.ok("GET", f"/api/people?limit=3&offset={len(found)}&{query}")
        found += [person["id"] for person in page["people"]]
        if not page["pagination"]["hasMore"]:
            break
    assert page["pagination"]["total"] == len(found)
    assert found == [person["id"] for person in api.ok("GET", f"/api/people?includeAll=true&{query}")["people"]]
    return found


def set_order(api: Client, **preferences: str) -> None:
    for key, value in preferences.items():
        path = {"nameSort": "name-sort", "nameOrder": "name-order", "nameDisplayFormat": "name-display-format"}[key]
        api.ok("PUT", f"/api/user/{path}", {key: value})


def parts(person: dict[str, Any]) -> tuple[str, str]:
    return fold(person["phoneticName"] or person["name"]), fold(person["phoneticSurname"] or person["surname"] or "")


def by_name(person: dict[str, Any]) -> Any:
    return parts(person), person["id"]


def by_surname(person: dict[str, Any]) -> Any:
    name, surname = parts(person)
    return not surname, surname, name, person["id"]


def sort(people: list[dict[str, Any]], key: Any) -> list[str]:
    return [person["id"] for person in sorted(people, key=key)]


def test_an_account_that_chose_nothing_has_the_order_of_the_specification(
    api: Client, crowd: list[dict[str, Any]]
) -> None:
    assert api.ok("GET", "/api/user/profile")["user"]["nameSort"] == "GIVEN"
    assert ids(api) == ids(api, "sort=name") == ids(api, "order=asc") == sort(crowd, by_name)


def test_surname(api: Client, crowd: list[dict[str, Any]]) -> None:
    expected = sort(crowd, by_surname)
    assert ids(api, "sort=surname") == expected
    set_order(api, nameSort="SURNAME")
    assert ids(api) == ids(api, "sort=surname") == expected
    assert ids(api, "sort=name") == sort(crowd, by_name)
    turned = ids(api, "order=desc")
    assert turned == ids(api, "sort=surname&order=desc")
    names = {person["id"]: parts(person)[::-1] for person in crowd}
    nameless = [key for key in expected if not names[key][0]]
    assert len(nameless) == 3  # they stand last in both directions
    assert [names[key] for key in turned] == [
        *(names[key] for key in expected[-4::-1]),
        *(names[key] for key in nameless[::-1]),
    ]


def test_people_of_one_name_are_in_the_order_of_their_ids_in_both_directions(api: Client) -> None:
    twins = [
        api.ok("POST", "/api/people", {"name": "Eva", "surname": "Doe"}, status=201)["person"]["id"] for _ in "123"
    ]
    for name_sort in ("GIVEN", "SURNAME", "SHOWN"):
        set_order(api, nameSort=name_sort)
        assert ids(api) == ids(api, "order=desc") == ids(api, "sort=surname&order=desc") == sorted(twins)


@pytest.mark.parametrize(("order", "form"), product(NameOrder.values, NameDisplayFormat.values))
def test_shown(api: Client, crowd: list[dict[str, Any]], order: str, form: str) -> None:
    set_order(api, nameSort="SHOWN", nameOrder=order, nameDisplayFormat=form)
    shown = api.ok("GET", "/api/people?includeAll=true")["people"]
    assert [person["id"] for person in shown] == ids(api)
    written = [fold(person["displayName"]) for person in shown if not person["phoneticSurname"]]
    assert len(written) == len(PEOPLE) - 2
    assert written == sorted(written, key=str.encode)
    keys = {person["id"]: fold(person["displayName"]) for person in shown}
    turned = ids(api, "order=desc")
    assert [keys[key] for key in turned if keys[key] in written] == written[::-1]


def test_a_phonetic_name_is_sorted_in_place_of_what_it_spells(api: Client) -> None:
    def add(name: str, **more: str) -> str:
        key: str = api.ok("POST", "/api/people", {"name": name, **more}, status=201)["person"]["id"]
        return key

    people = [
        add("Wei", surname="Aa"),
        add("花子", surname="安部", phoneticName="Hanako", phoneticSurname="Abe"),
        add("Bo", surname="Xu", phoneticSurname="Ac"),
        add("Zed", surname="Ad"),
    ]
    set_order(api, nameSort="SURNAME")
    assert ids(api) == people
    set_order(api, nameSort="SHOWN", nameOrder="EASTERN")
    assert ids(api) == people
    set_order(api, nameOrder="WESTERN")
    assert ids(api) == [people[1], people[2], people[0], people[3]]
    set_order(api, nameSort="GIVEN")
    assert ids(api) == [people[2], people[1], people[0], people[3]]


def test_favourites_and_filters_keep_the_order_in_force(api: Client, crowd: list[dict[str, Any]]) -> None:
    favourites = {person["id"] for person in crowd[::3]}
    api.ok("POST", "/api/people/bulk", {"action": "setFavourite", "personIds": sorted(favourites), "value": True})
    for name_sort in ("SURNAME", "SHOWN"):
        set_order(api, nameSort=name_sort)
        for query in ("", "order=desc"):
            found = ids(api, query)
            first = [key for key in found if key in favourites]
            assert ids(api, f"favourite=true&{query}") == first
            assert ids(api, f"favouritesFirst=true&{query}") == [
                *first,
                *(key for key in found if key not in favourites),
            ]
            assert ids(api, f"withoutGroups=true&{query}") == found


def test_a_change_of_the_order_changes_the_list_and_no_person(api: Client, alice: User, crowd: list[Any]) -> None:
    path = f"/api/people/{crowd[0]['id']}"
    relation = api.ok("GET", "/api/relationship-types")["relationshipTypes"][0]["id"]
    body = {"personId": crowd[0]["id"], "relatedPersonId": crowd[1]["id"], "relationshipTypeId": relation}
    api.ok("POST", "/api/relationships", body)
    cursor = api.ok("GET", "/api/changes?limit=1000")["cursor"]
    before = {row["pk"]: row["revision"] for row in Person.objects.owned_by(alice).values("pk", "revision")}
    person, people = api.get(path)["ETag"], api.get("/api/people")["ETag"]
    in_feed = {change["id"]: change["etag"] for change in api.ok("GET", "/api/changes?types=person")["changes"]}
    assert in_feed[crowd[0]["id"]] == person
    for preferences in ({"nameSort": "SHOWN"}, {"nameOrder": "EASTERN"}, {"nameDisplayFormat": "SHORT"}):
        set_order(api, **preferences)
        assert api.get(path)["ETag"] == person
        assert api.get(path, HTTP_IF_NONE_MATCH=person).status_code == 304
        feed = api.ok("GET", "/api/changes?types=person")["changes"]
        assert {change["id"]: change["etag"] for change in feed} == in_feed
        changed = api.get("/api/people", HTTP_IF_NONE_MATCH=people)
        assert changed.status_code == 200
        assert changed["ETag"] != people
        people = changed["ETag"]
        assert api.get("/api/people", HTTP_IF_NONE_MATCH=people).status_code == 304
    assert before == {row["pk"]: row["revision"] for row in Person.objects.owned_by(alice).values("pk", "revision")}
    [change] = api.ok("GET", f"/api/changes?cursor={cursor}")["changes"]
    assert change["type"] == "settings"
    assert change["record"]["nameSort"] == "SHOWN"


@pytest.mark.one_database
@pytest.mark.parametrize("value", ["given", "NAME", None, 1])
def test_unknown_orders_are_refused(api: Client, value: object) -> None:
    answer = api.ok("PUT", "/api/user/name-sort", {"nameSort": value}, status=400)
    assert [detail["field"] for detail in answer["details"]] == ["nameSort"]
    for word in ("shown", "SURNAME", ""):
        answer = api.ok("GET", f"/api/people?sort={word}", status=400)
        assert [detail["field"] for detail in answer["details"]] == ["sort"]


@pytest.mark.parametrize(("order", "form"), product((WESTERN, EASTERN), (FULL, NICKNAME_PREFERRED, SHORT)))
def test_key_of_a_plain_name_is_the_same_from_its_sort_key(order: str, form: str) -> None:
    for body in PEOPLE:
        names = NameParts(body["name"], body.get("surname"))
        key = sort_key(names)
        assert build_shown_key(order, form)(key) == shown_key(names, key, order=order, form=form)


@pytest.mark.parametrize(
    ("names", "phonetic", "order", "form", "expected"),
    [
        (NameParts("花子", "山田"), ("はなこ", "やまだ"), WESTERN, FULL, "やまだはなこ"),
        (NameParts("Hanako", "山田"), (None, "やまだ"), WESTERN, FULL, "hanako やまだ"),
        (NameParts("伟", "王"), ("Wei", "Wáng"), WESTERN, FULL, "wangwei"),
        (NameParts("伟", "王"), ("Wei", "Wáng"), EASTERN, FULL, "wang wei"),
        (NameParts("Siobhán", nickname="Shiv"), ("Shivawn", None), WESTERN, NICKNAME_PREFERRED, "shiv"),
        (NameParts("Siobhán"), ("Shivawn", None), WESTERN, SHORT, "shivawn"),
        (NameParts("Siobhán", display_name_override="Mum"), ("Shivawn", None), WESTERN, FULL, "mum"),
    ],
)
def test_phonetic_keys(names: NameParts, phonetic: Any, order: str, form: str, expected: str) -> None:
    assert shown_key(names, sort_key(names, phonetic), order=order, form=form).decode() == expected


@pytest.mark.parametrize(
    ("lines", "key"),
    [
        (['N;SORT-AS="Harten,Rene":van der Harten;Rene;J.;Sir;'], b"rene\x00harten"),
        (["N;SORT-AS=Harten:van der Harten;Rene;;;"], b"rene\x00harten"),
        (['N;sort-as="Harten,Rain":van der Harten;Rene;;;', "SORT-STRING:Other"], b"rain\x00harten"),
        (["N:van der Harten;Rene;;;", "SORT-STRING:Härten"], b"rene\x00harten"),
        (["N:van der Harten;Rene;;;", "SORT-STRING:"], b"rene\x00van der harten"),
        (["N:van der Harten;Rene;;;", "SORT-STRING:Harten", "X-PHONETIC-LAST-NAME:Hart"], b"rene\x00hart"),
        (['N;SORT-AS="Harten,Rain":van der Harten;Rene;;;', "X-PHONETIC-LAST-NAME:Hart"], b"rain\x00hart"),
        (["N:van der Harten;Rene;;;", 'ORG;SORT-AS="Acme":The Acme'], b"rene\x00van der harten"),
    ],
)
def test_a_card_says_what_a_name_is_sorted_as(api: Client, alice: User, lines: list[str], key: bytes) -> None:
    assert import_vcards(api, vcard(*lines, "FN:Rene", version="4.0"))["imported"] == 1
    person = Person.objects.owned_by(alice).get()
    assert (person.name, person.surname) == ("Rene", "van der Harten")
    assert bytes(person.sort_key) == key
    api.ok("PUT", f"/api/people/{person.pk}", {"notes": "Met"})
    person.refresh_from_db()
    assert bytes(person.sort_key) == key
    assert list(find_wrong_name_keys()) == []


def test_a_new_name_is_not_sorted_as_the_former_one(api: Client, alice: User) -> None:
    import_vcards(api, vcard('N;SORT-AS="Harten,Rain":van der Harten;Rene;;;', "FN:Rene", version="4.0"))
    person = Person.objects.owned_by(alice).get()
    for body, key in (
        ({"surname": "Boer"}, b"rain\x00boer"),
        ({"name": "Ada"}, b"ada\x00boer"),
        ({"name": "Rene", "surname": "van der Harten"}, b"rain\x00harten"),
        ({"surname": None}, b"rain\x00"),
    ):
        api.ok("PUT", f"/api/people/{person.pk}", body)
        person.refresh_from_db()
        assert bytes(person.sort_key) == key


def test_people_whose_card_says_what_they_are_sorted_as_are_found_by_imports(api: Client, alice: User) -> None:
    written, sorted_as = "N:van der Harten;Rene;;;", "N;SORT-AS=Harten:van der Harten;Rene;;;"
    for first, second in ((sorted_as, written), (written, sorted_as), (sorted_as, sorted_as)):
        import_vcards(api, vcard(first, "FN:Rene", "EMAIL:rene@example.org", version="4.0"))
        import_vcards(api, vcard(second, "FN:Rene", "EMAIL:rene@example.org", "TEL:+31 20 123", version="4.0"))
        assert len(Person.objects.owned_by(alice)) == 1
        import_vcards(api, vcard(second, "FN:Rene", version="4.0"))
        Person.objects.owned_by(alice).delete()


def test_the_list_is_sorted_as_cards_say(api: Client) -> None:
    harten = vcard("N;SORT-AS=Harten:van der Harten;Rene;J.;;", "FN:Rene J. van der Harten", version="4.0")
    for card in (vcard("N:Cramer;Eva;;;", "FN:Eva Cramer"), harten, vcard("N:Smit;Bo;;;", "FN:Bo Smit")):
        import_vcards(api, card)
    set_order(api, nameSort="SURNAME")
    assert [person["surname"] for person in api.ok("GET", "/api/people")["people"]] == [
        "Cramer",
        "van der Harten",
        "Smit",
    ]
    set_order(api, nameSort="SHOWN", nameOrder="EASTERN")
    assert [person["surname"] for person in api.ok("GET", "/api/people")["people"]] == [
        "Cramer",
        "van der Harten",
        "Smit",
    ]


def test_migration_brings_keys_of_earlier_versions_up_to_date(api: Client, alice: User) -> None:
    import_vcards(api, vcard('N;SORT-AS="Harten,Rain":van der Harten;Rene;;;', "FN:Rene", version="4.0"))
    import_vcards(api, vcard("N:Doe;Eva;;;", "FN:Eva"))
    key = b"rene\x00van der harten"
    Person.objects.owned_by(alice).filter(name="Rene").update(sort_key=key)
    migration = import_module("people.migrations.0005_sort_names_of_cards")
    migration.update_keys(apps, connection.schema_editor())
    assert {bytes(found) for found in Person.objects.owned_by(alice).values_list("sort_key", flat=True)} == {
        b"rain\x00harten",
        b"eva\x00doe",
    }
    assert list(find_wrong_name_keys()) == []
