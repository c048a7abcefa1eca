"""A relationship says since and until when it is; one that is past is shown, and is no reason for anything."""

import datetime as dt
from typing import Any

import pytest

from accounts.models import User
from people.models import Person
from relationships.models import Relationship, has_ended
from tests.builders import make_person
from tests.client import Client, client_of
from tests.relationships.invariants import check_invariants
from tests.relationships.steps import (
    expect_field_error,
    list_relationships,
    make_ada_and_bob,
    make_people,
    relate,
    type_ids,
)
from tests.relationships.test_merging import merge, undo


def times(row: Any) -> tuple[str | None, str | None]:
    return row["since"], row["until"]


def related_in_time(api: Client, person: Person, related: Person, **content: str | None) -> Any:
    made = relate(api, person, related, type_ids(api)["SPOUSE"])
    return api.ok("PUT", f"/api/relationships/{made['id']}", content)["relationship"]


def test_both_rows_say_it(api: Client, alice: User) -> None:
    ada, bob = make_ada_and_bob(alice)
    body = {"personId": str(ada.pk), "relatedPersonId": str(bob.pk), "since": "1990", "until": "2001-05-31"}
    made = api.ok("POST", "/api/relationships", body)["relationship"]
    assert times(made) == ("1990", "2001-05-31")
    assert [times(row) for row in list_relationships(api)] == [("1990", "2001-05-31")] * 2
    changed = api.ok("PUT", f"/api/relationships/{made['id']}", {"since": "1991-02", "until": None})["relationship"]
    assert times(changed) == ("1991-02", None)
    [row] = api.ok("GET", f"/api/people/{bob.pk}")["person"]["relationships"]
    assert times(row) == ("1991-02", None)
    # What a body does not name stays.
    assert times(api.ok("PUT", f"/api/relationships/{made['id']}", {"notes": "x"})["relationship"]) == ("1991-02", None)
    assert times(relate(api, ada, bob, type_ids(api)["FRIEND"])) == (None, None)
    check_invariants(alice)


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ({"since": "90"}, "since"),
        ({"since": "1990-13"}, "since"),
        ({"since": "1990-1"}, "since"),
        ({"since": "0000"}, "since"),
        ({"since": ""}, "since"),
        ({"since": 1990}, "since"),
        ({"until": "2001-02-29"}, "until"),
        ({"until": "2001-02-28T00:00:00Z"}, "until"),
        ({"until": "٢٠٠١"}, "until"),
        ({"since": "2001", "until": "2000-12-31"}, "until"),
        ({"since": "2001-05", "until": "2001-04-30"}, "until"),
        ({"since": "2001-05-02", "until": "2001-05-01"}, "until"),
    ],
)
def test_what_is_no_time_is_refused(api: Client, alice: User, content: dict[str, Any], field: str) -> None:
    ada, bob = make_ada_and_bob(alice)
    people = {"personId": str(ada.pk), "relatedPersonId": str(bob.pk)}
    expect_field_error(api, "POST", "/api/relationships", {**people, **content}, field)
    made = relate(api, ada, bob)
    expect_field_error(api, "PUT", f"/api/relationships/{made['id']}", content, field)
    assert [times(row) for row in list_relationships(api)] == [(None, None)] * 2


def test_the_end_is_compared_with_what_is_stored(api: Client, alice: User) -> None:
    ada, bob = make_ada_and_bob(alice)
    path = f"/api/relationships/{related_in_time(api, ada, bob, since='2001-05-02')['id']}"
    expect_field_error(api, "PUT", path, {"until": "2001-05-01"}, "until")
    # A month and a year say less than a day.
    for until in ("2001", "2001-05", "2001-05-02"):
        assert times(api.ok("PUT", path, {"until": until})["relationship"]) == ("2001-05-02", until)
    expect_field_error(api, "PUT", path, {"since": "2001-05-03"}, "until")


@pytest.mark.parametrize(
    ("until", "ended"),
    [
        (None, False),
        ("2026-11-28", False),
        ("2026-11-27", True),
        ("2026-11", False),
        ("2026-10", True),
        ("2026", False),
        ("2025", True),
        ("2027", False),
    ],
)
def test_it_has_ended_when_its_last_day_is_past(alice: User, until: str | None, ended: bool) -> None:
    today = dt.date(2026, 11, 28)
    ada, bob = make_ada_and_bob(alice)
    rows = [Relationship(owner=alice, person=one, related_person=other) for one, other in ((ada, bob), (bob, ada))]
    rows[0].inverse, rows[1].inverse = rows[1], rows[0]
    for row in rows:
        row.until = until
    Relationship.objects.bulk_create(rows)
    assert Relationship.objects.owned_by(alice).lasting(today).count() == (0 if ended else 2)
    assert has_ended(until, today) is ended


def test_the_feed_has_it_and_both_rows_move(api: Client, alice: User) -> None:
    ada, bob = make_ada_and_bob(alice)
    made = relate(api, ada, bob)
    cursor = api.ok("GET", "/api/changes")["cursor"]
    api.ok("PUT", f"/api/relationships/{made['id']}", {"since": "1990"})
    changes = api.ok("GET", f"/api/changes?cursor={cursor}")["changes"]
    found = [change["record"] for change in changes if change["type"] == "relationship"]
    assert [times(record) for record in found] == [("1990", None)] * 2


def test_merging_fills_what_is_blank_and_undo_empties_it(api: Client, alice: User) -> None:
    ada, double, bob, cid = make_people(alice, "Ada Double Bob Cid")
    related_in_time(api, ada, bob, until="2020")
    related_in_time(api, double, bob, since="1990-05", until="2010")
    related_in_time(api, ada, cid, since="2000")
    related_in_time(api, double, cid, until="1999")  # it would end before it begins
    merged = merge(api, ada, double)
    rows = {row["relatedPerson"]["name"]: times(row) for row in merged["person"]["relationships"]}
    assert rows == {"Bob": ("1990-05", "2020"), "Cid": ("2000", None)}
    check_invariants(alice)
    undo(api, merged)
    rows = {
        (row["person"]["name"], row["relatedPerson"]["name"]): times(row)
        for row in list_relationships(api)
        if row["person"]["name"] in {"Ada", "Double"}
    }
    assert rows == {
        ("Ada", "Bob"): (None, "2020"),
        ("Ada", "Cid"): ("2000", None),
        ("Double", "Bob"): ("1990-05", "2010"),
        ("Double", "Cid"): (None, "1999"),
    }
    check_invariants(alice)


def test_what_was_changed_after_a_merge_stays_when_it_is_undone(api: Client, alice: User) -> None:
    ada, double, bob = make_people(alice, "Ada Double Bob")
    made = related_in_time(api, ada, bob)
    related_in_time(api, double, bob, since="1990")
    merged = merge(api, ada, double)
    api.ok("PUT", f"/api/relationships/{made['id']}", {"since": "1991"})
    undo(api, merged)
    assert times(api.ok("GET", f"/api/relationships/{made['id']}")["relationship"]) == ("1991", None)


def test_what_is_past_is_no_reason(api: Client, alice: User) -> None:
    home = {"id": "h", "type": "home", "streetLine1": "Hauptstraße 5", "locality": "Wien", "country": "AT"}
    anna = make_person(alice, name="Anna", surname="Meier", addresses=[home])
    ben = make_person(alice, name="Ben", surname="Huber", addresses=[home])
    made = related_in_time(api, anna, ben, since="1990")
    child = make_person(alice, name="Cid")
    relate(api, anna, child, type_ids(api)["PARENT"])

    def reasons() -> tuple[int, set[tuple[str, str]]]:
        suggestions = api.ok("GET", "/api/relationship-suggestions")["suggestions"]
        found = {(one["personName"], one["typeName"]) for one in suggestions}
        return len(api.ok("GET", "/api/people/addresses")["households"]), found

    assert reasons() == (1, {("Ben Huber", "PARENT")})
    api.ok("PUT", f"/api/relationships/{made['id']}", {"until": "2020"})
    assert reasons() == (2, set())
    # It is still shown, and nobody is asked whether the two are married.
    assert len(list_relationships(api)) == 4


def test_export_and_import_keep_it(api: Client, alice: User, mallory: User) -> None:
    ada, ben = make_ada_and_bob(alice)
    related_in_time(api, ada, ben, since="1990", until="2001-05")
    document = api.ok("GET", "/api/user/export")
    [record] = document["relationships"]
    assert times(record) == ("1990", "2001-05")
    other = client_of(mallory)
    assert other.ok("POST", "/api/user/import", document)["errors"] == 0
    assert [times(row) for row in list_relationships(other)] == [("1990", "2001-05")] * 2
    # A document that contradicts itself is named, and no half of a pair comes in.
    document["relationships"] = [record | {"id": "0198c5a0-0000-7000-8000-000000000001", "until": "1989"}]
    receipt = client_of(mallory).ok("POST", "/api/user/import", document)
    assert receipt["errors"] == 1
    assert len(list_relationships(other)) == 2
