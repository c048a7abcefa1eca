"""Texts in composed and in decomposed letters (NFC, NFD) are one text, and are stored composed."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import orjson
import pytest

from accounts.models import User
from contacts_project.kernel.text_forms import nfc, normal_form
from people.models import Group, Person
from people.vcard import read_card
from tests.builders import make_user
from tests.client import Client, client_of
from tests.people.importing.uploads import counts, import_file, import_vcards, vcard
from tests.people.interactions.steps import add_interaction
from tests.people.steps import create_person, create_template, list_people

pytestmark = pytest.mark.django_db

CSV = "Name,Surname,Email,Group,Note,Größe\nJörg,Müller,j@a.example,Käsefreunde,Grüße,groß\nZoë,,,Ärzte,,\n"
CARDS = vcard(
    *("N:Müller;Jörg;;;", "FN:Jörg Müller", "EMAIL:j@a.example", "CATEGORIES:Käsefreunde,Ärzte", "NOTE:Grüße")
) + vcard(
    "N:Núñez;Zoë",
    *("ORG:Café\\, Ré", "item1.TEL:123456", "item1.X-ABLabel:Höhle", "ADR:;;Rüdesheimer;Köln;;1;Österreich"),
    *("IMPP:xmpp:zo%C3%AB@x.example", "X-CUSTOM-FIELD:Größe;groß", "RELATED;VALUE=text:Jörg"),
    "NICKNAME;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:Zo=C3=AB",
)


def nfd(text: str) -> str:
    return normal_form("NFD", text)


def is_composed(value: Any) -> bool:
    """Whether all texts of a JSON value are in NFC. The lines of a card stay as they came."""
    text = orjson.dumps(value).decode()
    return nfc(text) == text


def search(api: Client, path: str, query: str) -> list[str]:
    answer = api.ok("GET", f"/api/{path}?{urlencode({'q': query})}")
    return [person["id"] for person in answer.get("people", [row["person"] for row in answer.get("results", ())])]


def test_the_same_table_in_decomposed_letters_imports_nobody_twice(api: Client) -> None:
    assert counts(import_file(api, "csv", CSV)) == (2, 0, 0, 0)
    assert counts(import_file(api, "csv", nfd(CSV))) == (0, 0, 2, 0)
    assert len(list_people(api)) == len(api.ok("GET", "/api/groups")["groups"]) == 2


def test_a_table_in_decomposed_letters_is_stored_composed(api: Client) -> None:
    mapping = orjson.dumps({"Größe": "notes", "Note": "ignore"}).decode()
    receipt = import_file(api, "csv", nfd(CSV), mapping=mapping)
    assert is_composed([receipt, list_people(api), api.ok("GET", "/api/groups")])
    assert list_people(api)[0]["notes"] == "groß"


@pytest.mark.parametrize("first", [CARDS, nfd(CARDS.decode()).encode()], ids=["composed first", "decomposed first"])
def test_the_same_cards_in_decomposed_letters_import_nobody_twice(api: Client, first: bytes) -> None:
    assert counts(import_vcards(api, first)) == (2, 0, 0, 0)
    people = list_people(api)
    assert is_composed([{**person, "more": None} for person in people])
    for cards in (CARDS, nfd(CARDS.decode()).encode()):
        assert counts(import_vcards(api, cards)) == (0, 0, 2, 0)
    assert list_people(api) == people
    assert {group["name"] for group in api.ok("GET", "/api/groups")["groups"]} == {"Käsefreunde", "Ärzte"}


@pytest.mark.one_database
def test_a_card_reads_the_same_in_both_forms() -> None:
    for text in CARDS.decode().split("END:VCARD\r\n")[:2]:
        card, remarks = read_card(f"{text}END:VCARD\r\n")
        decomposed, same_remarks = read_card(nfd(f"{text}END:VCARD\r\n"))
        assert remarks == same_remarks
        parts = ((name, getattr(card, name), getattr(decomposed, name)) for name in card.__dataclass_fields__)
        assert [name for name, value, other in parts if value != other] == ["lines"]


def test_an_exported_card_keeps_the_letters_of_its_lines(api: Client) -> None:
    line = nfd("X-ODD:Größe")
    import_vcards(api, vcard("N:Zoë", line))
    response: Any = api.get("/api/vcard/export")
    assert line in b"".join(response.streaming_content).decode()


def test_two_groups_with_the_same_letters_are_one(api: Client) -> None:
    group = api.ok("POST", "/api/groups", {"name": nfd("Ärzte")}, status=201)["group"]
    assert group["name"] == "Ärzte"
    for name in ("Ärzte", nfd("ÄRZTE")):
        response = api.ok("POST", "/api/groups", {"name": name}, status=400)
        assert response["details"][0]["field"] == "name"


def test_types_templates_and_tokens_are_stored_composed(api: Client) -> None:
    body = {"name": nfd("Göttin"), "label": nfd("Göttin"), "symmetric": True}
    assert is_composed(api.ok("POST", "/api/relationship-types", body))
    assert "name" in api.ok("POST", "/api/relationship-types", {**body, "name": "göttin"}, status=400)["error"]
    template = create_template(api, nfd("Größe"), "SELECT", options=[nfd("groß"), "klein"])
    values = [{"templateId": template, "value": "groß"}]
    person = create_person(api, nfd("Zoë"), customFieldValues=values)
    assert api.ok("GET", f"/api/people/{person}")["person"]["customFieldValues"][0]["value"] == "groß"
    api.ok("PUT", f"/api/custom-field-templates/{template}", {"options": ["groß", nfd("riesig")]})
    again = [{"templateId": template, "value": nfd("groß")}]
    api.ok("PUT", f"/api/people/{person}", {"name": "Zoë", "customFieldValues": again})
    two = {"name": "x", "type": "SELECT", "options": ["ä", nfd("ä")]}
    api.ok("POST", "/api/custom-field-templates", two, status=400)
    assert is_composed([list_people(api), api.ok("GET", "/api/custom-field-templates")])


@pytest.mark.parametrize("write", [str, nfd])
def test_people_are_found_in_either_form(api: Client, write: Callable[[str], str]) -> None:
    person = create_person(api, write("Zoë"), surname="がぎ", notes=write("Grüße"))
    for query in ("Zoë", nfd("Zoë"), nfd("がぎ"), "がぎ"):
        assert search(api, "people/search", query) == [person]
        assert search(api, "find", query) == [person]
    assert search(api, "find", nfd("Grüße")) == [person]


def test_a_long_run_of_marks_is_stored_stream_safe(api: Client) -> None:
    marks = "\u0316\u0301" * 40
    few = "a" + "\u0316" * 30
    person = create_person(api, f"a{marks}", notes=few)
    shown = api.ok("GET", f"/api/people/{person}")["person"]
    assert shown["name"].count("\u034f") == 2
    assert shown["notes"] == few
    import_vcards(api, vcard(f"N:b;a{marks}", "X-ODD:1"))
    import_file(api, "csv", f"Name,Surname\na{marks},c\n")
    for row in list_people(api):
        assert row["name"].count("\u034f") == 2
    assert counts(import_file(api, "csv", f"Name,Surname\na{marks},c\n")) == (0, 0, 1, 0)


def test_the_limit_counts_composed_letters(api: Client) -> None:
    create_person(api, nfd("ä" * 100))
    # U+0958 is two characters in NFC, which Unicode excludes from composition.
    assert api.ok("POST", "/api/people", {"name": "\u0958" * 51}, status=400)["details"][0]["field"] == "name"


def test_an_account_in_decomposed_letters_imports_nothing_twice(api: Client, alice: User) -> None:
    create_person(api, "Zoë", surname="Núñez", notes="Grüße", phoneNumbers=[{"type": "Höhle", "number": "123456"}])
    api.ok("POST", "/api/groups", {"name": "Ärzte"}, status=201)
    add_interaction(api, list_people(api)[0]["id"], title="Grüße", notes="über")
    document = orjson.loads(nfd(orjson.dumps(api.ok("GET", "/api/user/export")).decode()))
    other = client_of(make_user("other@example.org"))
    other.ok("POST", "/api/groups", {"name": "Ärzte"}, status=201)
    other.ok("POST", "/api/user/import", document)
    assert is_composed([list_people(other), other.ok("GET", "/api/interactions")])
    assert [group["name"] for group in other.ok("GET", "/api/groups")["groups"]] == ["Ärzte"]


def test_editing_a_person_in_decomposed_letters_changes_nothing_else(api: Client) -> None:
    entries: dict[str, Any] = {
        "emails": [{"type": "Höhle", "email": "z@example.org"}],
        "customFields": [{"key": "Größe", "value": "groß"}],
    }
    person = create_person(api, "Zoë", **entries)
    before = api.ok("GET", f"/api/people/{person}")["person"]
    body = orjson.loads(nfd(orjson.dumps({"name": "Zoë", **entries}).decode()))
    after = api.ok("PUT", f"/api/people/{person}", body)["person"]
    assert {**after, "updatedAt": None} == {**before, "updatedAt": None}
    assert is_composed(list(Person.unscoped.values_list("name", "emails", "custom_fields")))
    assert not Group.unscoped.exists()


def test_groups_of_a_person_have_one_order_whatever_the_collation(api: Client) -> None:
    """Collations put `ä` before `z`; lists are sorted by character, so everything is."""
    person = create_person(api, "Ada")
    for name in ("zoo", "ägypten", "Ilse", "india"):
        api.ok("POST", "/api/groups", {"name": name, "peopleIds": [person]}, status=201)
    shown = [
        api.ok("GET", f"/api/people/{person}")["person"],
        api.ok("GET", "/api/people")["people"][0],
        api.ok("GET", "/api/people?includeAll=true")["people"][0],
        api.ok("PUT", f"/api/people/{person}", {"name": "Ada"})["person"],
    ]
    for one in shown:
        assert [group["name"] for group in one["groups"]] == ["Ilse", "india", "zoo", "ägypten"]
