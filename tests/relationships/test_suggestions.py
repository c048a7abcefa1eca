"""Suggestions of relationships: from cards, relationships and addresses, and how answers to them are kept."""

from typing import Any
from uuid import UUID

import pytest

from accounts.models import User
from contacts_project.kernel.invariants import find_violations
from people.models import Person, RelationshipType
from relationships.models import Relationship
from relationships.services import suggestions as services
from relationships.suggestions import cards
from tests.builders import UNKNOWN_ID, make_person, set_plan_limits
from tests.client import Client, client_of
from tests.people.importing.uploads import import_vcards, vcard
from tests.people.steps import create_person
from tests.queries import count_queries

pytestmark = [pytest.mark.sqlite_suffices, pytest.mark.django_db]

PATH = "/api/relationship-suggestions"


def list_suggestions(api: Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.ok("GET", PATH)["suggestions"]
    return found


def suggestion_tuples(api: Client) -> list[tuple[str, str, str, str]]:
    return [(one["personName"], one["typeName"], one["relatedName"], one["reason"]) for one in list_suggestions(api)]


def relate(api: Client, person: str, kind: str, related: str) -> None:
    types = {row["name"]: row["id"] for row in api.ok("GET", "/api/relationship-types")["relationshipTypes"]}
    body = {"personId": person, "relatedPersonId": related, "relationshipTypeId": types[kind]}
    api.ok("POST", "/api/relationships", body)


def relationship_triples(api: Client) -> set[tuple[str, str, str]]:
    rows = api.ok("GET", "/api/relationships")["relationships"]
    names = {row["id"]: row["name"] for row in api.ok("GET", "/api/relationship-types")["relationshipTypes"]}
    return {(row["person"]["name"], names[row["relationshipTypeId"]], row["relatedPerson"]["name"]) for row in rows}


def card(*lines: str) -> bytes:
    return vcard("N:Meier;Anna;;;", "FN:Anna Meier", "UID:urn:uuid:anna", *lines)


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        *(("_$!<Mother>!$_", "CHILD"), ("Mutter", "CHILD"), ("hija", "PARENT"), ("søster", "SIBLING")),
        *(("妻", "SPOUSE"), ("petite amie", "PARTNER"), ("_$!<Manager>!$_", "COLLEAGUE"), ("Tante", "RELATIVE")),
        *(("_$!<Friend>!$_", "FRIEND"), ("Zahnarzt", "OTHER")),
    ],
)
def test_a_label_in_any_language_is_a_type(api: Client, label: str, kind: str) -> None:
    import_vcards(api, card("item1.X-ABRELATEDNAMES:Carla Wolf", f"item1.X-ABLabel:{label}"))
    assert suggestion_tuples(api) == [("Anna Meier", kind, "Carla Wolf", "card")]


@pytest.mark.both_databases
def test_names_on_cards_match_people_as_duplicates_do(api: Client) -> None:
    """A lone given name of a family member is tried with the surname, too. A UID matches its person, a URL nobody."""
    bob, eve = create_person(api, "Robert", surname="Hill", nickname="Bob"), create_person(api, "Eve")
    uid = api.ok("GET", f"/api/people/{eve}")["person"]["uid"]
    lines = ["TYPE=child;VALUE=text:Carla", "TYPE=spouse;VALUE=text:Bob Hill", f"TYPE=friend:{uid}"]
    lines += ["TYPE=me;VALUE=text:Myself", "TYPE=kin:https://example.org/x", "TYPE=kin:urn:uuid:nobody"]
    import_vcards(api, card(*(f"RELATED;{line}" for line in lines)))
    import_vcards(api, vcard("N:Meier;Carla;;;", "FN:Carla Meier", "X-ABRELATEDNAMES;TYPE=mother:Anna Meier"))
    carla = str(Person.unscoped.get(name="Carla").pk)
    # Carla's card names the same relationship from the other side, so it is suggested once.
    assert [(one["relatedPersonId"], one["typeName"]) for one in list_suggestions(api)] == [
        (carla, "PARENT"),
        (bob, "SPOUSE"),
        (eve, "FRIEND"),
    ]


def test_accepting_several_creates_both_rows_of_each(api: Client) -> None:
    create_person(api, "Carla", surname="Meier")
    import_vcards(api, card("RELATED;TYPE=child;VALUE=text:Carla Meier", "RELATED;TYPE=spouse;VALUE=text:Wolf\\, Paul"))
    import_vcards(api, vcard("N:Meier;Otto;;;", "FN:Otto Meier", "RELATED;TYPE=friend;VALUE=text:Paul Wolf"))
    ids = [one["id"] for one in list_suggestions(api)]
    assert Relationship.unscoped.count() == 0
    assert api.ok("POST", f"{PATH}/accept", {"ids": ids}) == {"accepted": 3, "errors": []}
    assert relationship_triples(api) == {
        *(("Anna Meier", "PARENT", "Carla Meier"), ("Carla Meier", "CHILD", "Anna Meier")),
        *(("Anna Meier", "SPOUSE", "Paul Wolf"), ("Paul Wolf", "SPOUSE", "Anna Meier")),
        *(("Otto Meier", "FRIEND", "Paul Wolf"), ("Paul Wolf", "FRIEND", "Otto Meier")),
    }
    paul = Person.unscoped.get(name="Paul")
    assert paul.surname == "Wolf"
    repeated = api.ok("POST", f"{PATH}/accept", {"ids": ids[:1]})
    assert (repeated["accepted"], [error["id"] for error in repeated["errors"]]) == (0, ids[:1])
    # Paul is not created as Carla's father: that is only suggested.
    assert suggestion_tuples(api) == [("Paul Wolf", "PARENT", "Carla Meier", "parent_of_spouses_child")]


def test_accept_may_name_another_person(api: Client, mallory: User) -> None:
    theirs = create_person(client_of(mallory), "Carla")
    other = create_person(api, "Karla", surname="W")
    import_vcards(api, card("RELATED;TYPE=child;VALUE=text:Carla Wolf", "RELATED;TYPE=kin;VALUE=text:Ben Wolf"))
    first, second = (one["id"] for one in list_suggestions(api))
    bodies: tuple[dict[str, Any], ...] = (
        {"ids": [first], "relatedPersonId": theirs},
        {"ids": [first, second], "relatedPersonId": other},
        {"ids": [first, other]},
        {"ids": []},
        {"ids": [1]},
    )
    for body in bodies:
        assert api.call("POST", f"{PATH}/accept", body).status_code == 400
    assert api.ok("POST", f"{PATH}/accept", {"ids": [first], "relatedPersonId": other})["accepted"] == 1
    assert ("Karla W", "CHILD", "Anna Meier") in relationship_triples(api)
    stranger = client_of(mallory)
    assert stranger.call("POST", f"{PATH}/dismiss", {"ids": [second]}).status_code == 400
    assert list_suggestions(stranger) == []


@pytest.mark.both_databases
def test_suggestions_derived_from_relationships_and_addresses(api: Client) -> None:
    home = {"type": "home", "streetLine1": "Hauptstr. 1", "postalCode": "10115", "locality": "Berlin"}
    eva, tom = create_person(api, "Eva", surname="Roth"), create_person(api, "Tom", surname="Roth", addresses=[home])
    ida, max_ = (
        create_person(api, "Ida"),
        create_person(api, "Max", addresses=[{**home, "streetLine1": "hauptstr 1", "postalCode": None}]),
    )
    create_person(api, "Office", addresses=[{**home, "type": "work"}])
    relate(api, eva, "PARENT", ida)
    relate(api, tom, "CHILD", eva)
    relate(api, eva, "SPOUSE", max_)
    assert suggestion_tuples(api) == [
        ("Ida", "SIBLING", "Tom Roth", "siblings"),
        ("Max", "PARENT", "Ida", "parent_of_spouses_child"),
        ("Max", "PARENT", "Tom Roth", "parent_of_spouses_child"),
    ]
    ids = [one["id"] for one in list_suggestions(api)]
    assert ids == [one["id"] for one in list_suggestions(api)]
    assert api.ok("POST", f"{PATH}/dismiss", {"ids": ids[2:]}) == {"dismissed": 1, "errors": []}
    assert api.ok("POST", f"{PATH}/accept", {"ids": ids[:2]})["accepted"] == 2
    assert suggestion_tuples(api) == []
    api.ok("PUT", f"/api/people/{eva}", {"addresses": [home]})
    assert suggestion_tuples(api) == []  # they have a relationship, or the suggestion was answered
    api.ok("PUT", f"/api/people/{ida}", {"addresses": [home]})
    assert suggestion_tuples(api) == []
    create_person(api, "Leo", surname="Roth", addresses=[home])
    assert ("Tom Roth", "RELATIVE", "Leo Roth", "household") in suggestion_tuples(api)
    api.ok("DELETE", f"/api/people/{tom}")
    assert "Tom Roth" not in str(suggestion_tuples(api))
    assert list(find_violations("related names")) == list(find_violations("look-up keys")) == []


@pytest.mark.both_databases
def test_dismissed_suggestions_do_not_come_back(api: Client, mallory: User) -> None:
    lines = ("RELATED;TYPE=child;VALUE=text:Carla Wolf", "RELATED;TYPE=friend;VALUE=text:Ben Wolf")
    import_vcards(api, card(*lines))
    carla, ben = list_suggestions(api)
    assert api.ok("POST", f"{PATH}/dismiss", {"ids": [carla["id"]]})["dismissed"] == 1
    import_vcards(api, card(*lines, "NOTE:newer"))
    assert list_suggestions(api) == [ben]
    importer = client_of(mallory)
    importer.reader = None  # no leak: mallory imports alice's data
    for _ in range(2):
        importer.ok("POST", "/api/user/import", api.ok("GET", "/api/user/export"))
    assert suggestion_tuples(importer) == suggestion_tuples(api)
    create_person(api, "Carla", surname="Wolf")
    assert list_suggestions(api) == [ben]
    import_vcards(api, vcard("N:Meier;Anne;;;", "FN:Anne Meier", "UID:urn:uuid:anne", lines[1]))
    anna, anne = (Person.unscoped.get(owner=user_of(api), name=name) for name in ("Anna", "Anne"))
    merged = api.ok("POST", "/api/people/merge", {"primaryId": str(anne.pk), "secondaryId": str(anna.pk)})
    assert suggestion_tuples(api) == [("Anne Meier", "FRIEND", "Ben Wolf", "card")]
    api.ok("POST", f"/api/people/merge/{merged['mergeId']}/undo")
    assert len(suggestion_tuples(api)) == 2
    assert list(find_violations("related names")) == []


def user_of(api: Client) -> User:
    assert api.reader is not None
    return api.reader


def test_a_plan_that_is_full_refuses_by_id(api: Client, alice: User, settings: Any) -> None:
    import_vcards(api, card("RELATED;TYPE=child;VALUE=text:Carla Wolf"))
    set_plan_limits(settings, people=1)
    (one,) = list_suggestions(api)
    response = api.ok("POST", f"{PATH}/accept", {"ids": [one["id"]]})
    assert (response["accepted"], len(response["errors"])) == (0, 1)
    assert suggestion_tuples(api) == [("Anna Meier", "PARENT", "Carla Wolf", "card")]


@pytest.mark.both_databases
def test_one_name_and_fifty_take_the_same_statements(api: Client) -> None:
    counts = []
    for number in (1, 50):
        import_vcards(api, card(*(f"RELATED;TYPE=friend;VALUE=text:Ben Wolf{n}" for n in range(number))))
        counts.append(count_queries(list_suggestions, api))
        assert len(list_suggestions(api)) == number
    assert counts[0] == counts[1] <= 12


@pytest.mark.both_databases
def test_a_failed_suggestion_rolls_back_only_its_own_person(api: Client) -> None:
    """Both name a person who does not exist; the first fails, the second succeeds."""
    import_vcards(api, card("item1.X-ABRELATEDNAMES:Carla Wolf", "item1.X-ABLabel:Freund"))
    bert = vcard("N:Huber;Bert;;;", "FN:Bert Huber", "item1.X-ABRELATEDNAMES:Carla Wolf", "item1.X-ABLabel:Kollege")
    import_vcards(api, bert)
    RelationshipType.unscoped.rows().filter(name="FRIEND").update(inverse=None)
    found = sorted(list_suggestions(api), key=lambda one: one["typeName"] != "FRIEND")
    ids = [one["id"] for one in found]
    response = api.ok("POST", f"{PATH}/accept", {"ids": ids})
    assert (response["accepted"], [one["id"] for one in response["errors"]]) == (1, ids[:1])
    assert relationship_triples(api) == {
        ("Bert Huber", "COLLEAGUE", "Carla Wolf"),
        ("Carla Wolf", "COLLEAGUE", "Bert Huber"),
    }


@pytest.mark.both_databases
def test_pairs_of_a_long_list_of_children_are_bounded(api: Client, alice: User) -> None:
    parent = create_person(api, "Adam")
    for number in range(32):  # two more than are compared with each other
        relate(api, parent, "PARENT", str(make_person(alice, name=f"Child {number}").pk))
    found = list_suggestions(api)
    assert len(found) == 200
    assert {one["reason"] for one in found} == {"siblings"}
    last = found[-1]
    api.ok("POST", f"{PATH}/dismiss", {"ids": [last["id"]]})
    for unknown_id in (UNKNOWN_ID, "no id", " "):
        refused = api.ok("POST", f"{PATH}/dismiss", {"ids": [unknown_id]}, status=400)
        assert refused["details"] == [
            {"field": "ids.0", "message": "There is no such record.", "code": "no_such_record"}
        ]
    for _ in range(2):
        api.ok("POST", f"{PATH}/dismiss", {"ids": [one["id"] for one in list_suggestions(api)]})
    assert len(list_suggestions(api)) == 30 * 29 // 2 - 401


@pytest.mark.both_databases
def test_accept_restores_or_creates_a_missing_type(api: Client) -> None:
    """Restored from the trash with its inverse, or created as in a new account."""
    types = {row["name"]: row["id"] for row in api.ok("GET", "/api/relationship-types")["relationshipTypes"]}
    for name in ("PARENT", "CHILD", "SPOUSE"):
        api.ok("DELETE", f"/api/relationship-types/{types[name]}")
    api.ok("DELETE", f"/api/relationship-types/{types['SPOUSE']}/permanent")
    children = [f"RELATED;TYPE=child;VALUE=text:{name}" for name in ("Carla Wolf", "Dora Wolf")]
    import_vcards(api, card(*children, "RELATED;TYPE=spouse;VALUE=text:Ben Wolf"))
    found = list_suggestions(api)
    assert {(one["typeName"], one["relationshipTypeId"]) for one in found} == {("PARENT", None), ("SPOUSE", None)}
    assert api.ok("POST", f"{PATH}/accept", {"ids": [one["id"] for one in found]}) == {"accepted": 3, "errors": []}
    assert ("Carla Wolf", "CHILD", "Anna Meier") in relationship_triples(api)
    assert ("Dora Wolf", "CHILD", "Anna Meier") in relationship_triples(api)
    assert ("Ben Wolf", "SPOUSE", "Anna Meier") in relationship_triples(api)
    assert list(find_violations("relationship")) == []


def test_changes_between_computing_and_the_lock_are_errors(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Derived suggestions are computed before the account is locked, and checked again under the lock."""
    eva, *children = (create_person(api, name) for name in ("Eva", "Ida", "Tom", "Leo"))
    for child in children:
        relate(api, eva, "PARENT", child)
    ids = [one["id"] for one in list_suggestions(api)]
    derived = services._find_derived(user_of(api), [UUID(key) for key in ids])
    monkeypatch.setattr(services, "_find_derived", lambda owner, keys: {key: derived[key] for key in keys})
    relate(api, children[0], "FRIEND", children[1])
    api.ok("DELETE", f"/api/people/{children[2]}")
    api.ok("DELETE", f"/api/people/{children[2]}/permanent")
    gone = [{"id": key, "error": str(services.DELETED), "code": "suggestion_person_gone"} for key in ids[1:]]
    assert api.ok("POST", f"{PATH}/dismiss", {"ids": ids[1:]}) == {"dismissed": 0, "errors": gone}
    related = {"id": ids[0], "error": str(services.ALREADY_RELATED), "code": "already_related"}
    assert api.ok("POST", f"{PATH}/accept", {"ids": ids}) == {"accepted": 0, "errors": [related, *gone]}


@pytest.mark.both_databases
def test_names_that_are_never_shown_hide_no_others(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = (f"RELATED;TYPE=friend:urn:uuid:nobody-{number}" for number in range(6))
    import_vcards(api, card(*nobody, "RELATED;TYPE=friend;VALUE=text:Ben Wolf"))
    monkeypatch.setattr(cards, "_FIRST_BATCH_SIZE", 1)
    assert [one[2] for one in suggestion_tuples(api)] == ["Ben Wolf"]
    monkeypatch.setattr(cards, "MAX_NAMES", 3)
    assert suggestion_tuples(api) == []
