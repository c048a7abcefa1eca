"""GET /api/find: the searched fields, order, ownership, and number of statements."""

from typing import Any
from urllib.parse import urlencode

import pytest
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.invariants import find_violations
from people.models import InteractionWord, LookupKey, Person, ValueWord
from tests.builders import make_keys, make_user
from tests.client import Client, client_of
from tests.people.interactions.steps import add_interaction
from tests.people.steps import create_person, create_template
from tests.queries import count_queries

pytestmark = [pytest.mark.sqlite_suffices, pytest.mark.django_db]


def results(api: Client, query: str, **more: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.ok("GET", f"/api/find?{urlencode({'q': query, **more})}")["results"]
    return found


def found_names(api: Client, query: str, **more: Any) -> list[str]:
    return [row["person"]["displayName"] for row in results(api, query, **more)]


def check_find_invariants(api: Client) -> None:
    """The look-up keys and words satisfy their invariants."""
    assert list(find_violations("look-up keys")) == list(find_violations("search words")) == []


SPELLINGS = ["Müller", "Mueller", "Muller", "MULLER", "mull", "Ada Müller", "Müller, Ada", "Mulelr", "Mülller", "Muler"]


@pytest.mark.parametrize("surname", ["Müller", "Mueller", "Muller"])
def test_names_are_found_in_any_spelling(api: Client, surname: str) -> None:
    create_person(api, "Ada", surname=surname)
    create_person(api, "Bob", surname="Hopper")
    for query in SPELLINGS:
        assert found_names(api, query) == [f"Ada {surname}"], query


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("Sørensen", "Soerensen"),
        ("Sørensen", "sorensen"),
        ("Иван", "Ivan"),
        ("Ivan", "Иван"),
        ("Γιώργος", "Giorgos"),
        ("O'Brien", "obrien"),
        ("Jean-Luc", "luc"),
        ("Jonathan", "Jhonathan"),
        ("Jonathan", "Jonatan"),
        ("Christian", "Kristian"),
        ("Schwarzenegger", "Shwarzeneger"),
        ("John", "Jhon"),
        ("山田太郎", "太郎"),
        ("Strauß", "Strauss"),
        ("O\u00b4Brien", "o'brien"),
        ("O’Brien", "O\u2032Brien"),
        ("Ka\u02bbahumanu", "kaahumanu"),
        ("タロウ", "たろう"),
        ("たろう", "ﾀﾛｳ"),
        ("علي", "على"),
        ("علی", "علي"),
        ("کریم", "كريم"),
        ("فاطمة", "فاطمه"),
        ("محـــمد", "محمد"),
        ("أحمد", "احمد"),
        ("علی\u200cرضا", "علیرضا"),
    ],
)
def test_other_letters_and_typing_errors(api: Client, name: str, query: str) -> None:
    create_person(api, name)
    create_person(api, "Somebody")
    [found] = results(api, query)
    assert (found["person"]["displayName"], found["matched"]) == (name, ["name"])


@pytest.mark.parametrize("query", ["Bob", "Adaline", "Adx", "zzz", "Hpoper Ada zzzzz"])
def test_unrelated_people_are_not_found(api: Client, query: str) -> None:
    create_person(api, "Ada", surname="Lovelace")
    assert found_names(api, query) == (["Ada Lovelace"] if "Ada " in query else [])


PHONE = [
    *("+49 30 1234567", "+49301234567", "0049 30 1234567", "030 1234567", "(030) 12 34-567", "030/1234567"),
    *("301234567", "49301234567", "4567", "234567", "030 123"),
]


@pytest.mark.both_databases
@pytest.mark.parametrize("number", ["+49 30 1234567", "030 1234567", "0049 (30) 123-4567"])
def test_phones_are_found_in_any_format(api: Client, number: str) -> None:
    create_person(api, "Ada", phoneNumbers=[{"number": number}])
    create_person(api, "Bob", phoneNumbers=[{"number": "+44 20 7946 0958"}])
    for query in PHONE:
        found = [(row["person"]["displayName"], row["matched"]) for row in results(api, query)]
        assert found == [("Ada", ["phoneNumbers"])], query


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("number", "queries", "others"),
    [
        ("4711", ("4711", "471", "711", "47 11"), ("47", "4712")),
        ("112", ("112",), ("11", "1123")),
        ("+49 30 1234567 ext. 890", ("890", "030 1234567", "+49 30 1234567 890", "1234567890", "567890"), ("8901",)),
        (
            "+49 30 1234567 ext. 890",
            ("4567", "34567", "030 1234567 ext. 890", "030 1234567x890"),
            ("030 1234568 ext. 890",),
        ),
        ("+49 30 1234567", ("030 1234567 ext. 890", "030 1234567 Durchwahl 890"), ()),
        ("1-800-FLOWERS", ("1-800-356-9377", "8003569377", "+1 800 356 9377", "9377", "800356"), ("8003569378",)),
        ("+34600111222; +34600111223", ("600111222", "600 111 223", "+34600111223", "1222", "1223"), ("111224",)),
        ("06 1 234 5678", ("+36 1 234 5678", "0612345678", "1 234 5678"), ()),
        ("131 2345 6789", ("+86 131 2345 6789", "13123456789"), ()),
        ("(212) 555-0100 x4242", ("4242", "2125550100", "+1 212 555 0100", "212"), ("4243",)),
        ("+49 110", ("110", "49110", "+49 110"), ("119",)),
        ("+52 1 55 1234 5678", ("55 1234 5678", "+52 55 1234 5678", "044 55 1234 5678"), ()),
        ("+54 9 11 1234-5678", ("011 15 1234-5678", "11 1234 5678"), ()),
        ("06 30 123 4567", ("+36 30 123 4567", "06301234567", "30 123 4567"), ()),
        ("+49 151 23456789", ("+49 151", "0049 151", "٠١٥١ ٢٣٤٥٦٧٨٩"), ("+49 152",)),
    ],
)
def test_short_numbers_extensions_and_prefixes_are_found(
    api: Client, number: str, queries: tuple[str, ...], others: tuple[str, ...]
) -> None:
    create_person(api, "Ada", phoneNumbers=[{"number": number}])
    for query in queries:
        assert [row["matched"] for row in results(api, query)] == [["phoneNumbers"]], query
    for query in others:
        assert results(api, query) == [], query
    check_find_invariants(api)


@pytest.mark.parametrize(
    ("fields", "query", "matched"),
    [
        ({"emails": [{"email": "Countess.Ada@Example.org"}]}, "countess.ada@example.org", "emails"),
        ({"emails": [{"email": "countess.ada@example.org"}]}, "countess.ada@ex", "emails"),
        ({"emails": [{"email": "countess@example.org"}]}, "countess", "emails"),
        ({"emails": [{"email": "countess@analytical.org"}]}, "analytical", "emails"),
        ({"organization": "Analytical Engines"}, "engines", "organization"),
        ({"jobTitle": "Programmer"}, "program", "jobTitle"),
        ({"nickname": "Countess"}, "countess", "nickname"),
        ({"surname": "Lovelace"}, "lovelace", "surname"),
        ({"phoneticName": "Leeza"}, "leeza", "phoneticName"),
        ({"phoneticSurname": "Luvlace"}, "luvalce", "phoneticSurname"),
        ({"notes": "Likes long walks.\n" + "word " * 1000 + "harp"}, "harp", "notes"),
        ({"customFields": [{"key": "Instrument", "value": "Harp"}]}, "harp", "customFields"),
        ({"organization": "北京大学"}, "北京", "organization"),
        ({"notes": "東京で会った"}, "東京", "notes"),
    ],
)
def test_every_field_is_searched(api: Client, fields: dict[str, Any], query: str, matched: str) -> None:
    create_person(api, "Ada", **fields)
    create_person(api, "Bob")
    [found] = results(api, query)
    assert (found["person"]["displayName"].split()[0], found["matched"]) == ("Ada", [matched])
    check_find_invariants(api)


def test_best_match_comes_first(api: Client) -> None:
    create_person(api, "Cy", notes="Brother of Anna")
    create_person(api, "Dan", organization="Anna Ltd")
    create_person(api, "Annabel")
    create_person(api, "Anne")
    create_person(api, "Anna")
    found = results(api, "anna")
    assert [row["person"]["displayName"] for row in found] == ["Anna", "Annabel", "Anne", "Dan", "Cy"]
    assert [row["score"] for row in found] == [1.0, 0.8, 0.6, 0.6, 0.4]
    assert found_names(api, "anna", limit=2) == ["Anna", "Annabel"]
    assert found_names(api, "anna brother") == ["Cy"]


@pytest.mark.both_databases
def test_custom_values_as_their_templates_come_and_go(api: Client) -> None:
    template = create_template(api, "Drink", "SELECT", options=["Espresso", "Green tea"])
    key = create_person(api, "Ada", customFieldValues=[{"templateId": template, "value": "Green tea"}])
    [found] = results(api, "green")
    assert found["matched"] == ["customFieldValues"]
    path = f"/api/custom-field-templates/{template}"
    api.ok("DELETE", path)
    assert results(api, "green") == []
    api.ok("POST", f"{path}/restore")
    assert found_names(api, "green") == ["Ada"]
    api.ok("PUT", path, {"options": ["Espresso", "Black tea"]})
    assert (found_names(api, "green"), found_names(api, "black")) == ([], ["Ada"])
    api.ok("PUT", f"/api/people/{key}", {"customFieldValues": [{"templateId": template, "value": "Espresso"}]})
    assert (found_names(api, "black"), found_names(api, "espresso")) == ([], ["Ada"])
    check_find_invariants(api)
    api.ok("PUT", f"/api/people/{key}", {"customFieldValues": []})
    assert results(api, "espresso") == []
    assert not ValueWord.objects.exists()


@pytest.mark.both_databases
def test_interactions_and_what_becomes_of_them(api: Client) -> None:
    ada, bob = create_person(api, "Ada"), create_person(api, "Bob")
    row = add_interaction(api, ada, bob, title="Concert", notes="The harp was out of tune.")
    assert sorted(found_names(api, "harp")) == ["Ada", "Bob"]
    assert results(api, "concert")[0]["matched"] == ["interactions"]
    path = f"/api/interactions/{row['id']}"
    api.ok("PUT", path, {"title": "Theatre"})
    assert (results(api, "concert"), len(results(api, "theatre"))) == ([], 2)
    check_find_invariants(api)
    api.ok("DELETE", path)
    assert results(api, "harp") == []
    api.ok("POST", f"{path}/restore")
    api.ok("PUT", path, {"personIds": [ada]})
    assert found_names(api, "harp") == ["Ada"]
    api.ok("DELETE", path)
    api.ok("DELETE", f"{path}/permanent")
    assert not InteractionWord.objects.exists()


@pytest.mark.both_databases
def test_changed_values_are_found(api: Client) -> None:
    key = create_person(api, "Ada", notes="harp " + " ".join(f"word{number}" for number in range(1200)))
    api.ok("PUT", f"/api/people/{key}", {"notes": "lute", "organization": "Engines"})
    assert (results(api, "harp"), results(api, "word7")) == ([], [])
    assert found_names(api, "lute") == found_names(api, "engines") == ["Ada"]
    check_find_invariants(api)
    api.ok("DELETE", f"/api/people/{key}")
    assert results(api, "ada") == []
    api.ok("POST", f"/api/people/{key}/restore")
    assert found_names(api, "ada") == ["Ada"]
    api.ok("DELETE", f"/api/people/{key}")
    api.ok("DELETE", f"/api/people/{key}/permanent")
    assert not LookupKey.objects.exists()


@pytest.mark.both_databases
def test_merging_and_undoing(api: Client) -> None:
    template = create_template(api, "Drink")
    ada = create_person(api, "Ada")
    bob = create_person(api, "Bob", notes="harp", customFieldValues=[{"templateId": template, "value": "Tea"}])
    add_interaction(api, bob, title="Concert")
    merged = api.ok("POST", "/api/people/merge", {"primaryId": ada, "secondaryId": bob})
    for query in ("harp", "tea", "concert"):
        assert found_names(api, query) == ["Ada"]
    check_find_invariants(api)
    api.ok("PUT", f"/api/people/{ada}", {"customFieldValues": []})
    api.ok("POST", f"/api/people/merge/{merged['mergeId']}/undo")
    for query in ("harp", "tea", "concert"):
        assert found_names(api, query) == ["Bob"]
    check_find_invariants(api)


@pytest.mark.both_databases
def test_imported_people_are_found(api: Client) -> None:
    template = create_template(api, "Drink")
    ada = create_person(api, "Ada", notes="harp", customFieldValues=[{"templateId": template, "value": "Tea"}])
    add_interaction(api, ada, title="Concert")
    other = client_of(make_user("other@example.org"))
    other.ok("POST", "/api/user/import", api.ok("GET", "/api/user/export"))
    for query in ("harp", "tea", "concert"):
        assert found_names(other, query) == ["Ada"]
    check_find_invariants(api)


def test_people_of_others_are_not_found(api: Client, stranger: Client) -> None:
    add_interaction(api, create_person(api, "Ada", notes="harp"), title="Concert")
    for query in ("ada", "adx", "harp", "concert", "a"):
        assert results(stranger, query) == []


@pytest.mark.parametrize("query", ["", "q=", "q=%20%20", f"q={'x' * 201}", "q=%00", "q=a%00@b"])
def test_nothing_to_find_is_refused(api: Client, query: str) -> None:
    assert api.ok("GET", f"/api/find?{query}", status=400)["details"][0]["field"] == "q"


@pytest.mark.parametrize("query", ["%", "_", "'", '"', "\\", "*", "@", "...", "()", "🙂", "a@", "%%s", "12", "-"])
def test_punctuation_finds_nobody(api: Client, query: str) -> None:
    create_person(api, "Bob", surname="Hopper")
    assert results(api, query) == []


def test_result_contains_the_person(api: Client) -> None:
    key = create_person(api, "Ada", surname="Lovelace", organization="Engines")
    [found] = results(api, "lovelace")
    assert found == {
        "person": {"id": key, "displayName": "Ada Lovelace", "photo": None, "organization": "Engines"},
        "score": 1.0,
        "matched": ["surname"],
        "excerpt": None,
    }


def test_number_of_statements_does_not_grow(api: Client) -> None:
    def count() -> list[int]:
        return [count_queries(results, api, query) for query in ("ada", "lovelace harp", "030 12345")]

    create_person(api, "Ada", surname="Lovelace", notes="harp")
    results(api, "ada")
    before = count()
    for number in range(30):
        create_person(api, f"Ada{number}", surname="Lovelace", notes="harp")
    assert count() == before
    assert max(before) <= 4


@pytest.mark.both_databases
def test_a_word_that_all_have_hides_nobody_who_has_another(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("people.find._MAX_ROWS_SINGLE_TERM", 2)
    for name in ("Zoe", "Ada", "Bob", "Cy"):
        create_person(api, name, notes="harp")
    assert len(found_names(api, "harp")) == 2
    for query in ("harp bob", "bob harp", "h b", "ha cy"):
        assert len(found_names(api, query)) == 1


@pytest.mark.both_databases
def test_deleted_people_do_not_hide_others(api: Client, alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("people.find._MAX_ROWS_SINGLE_TERM", 500)
    gone = [Person(owner=alice, name="Ada", notes="harp", deleted_at=timezone.now()) for _ in range(501)]
    make_keys(alice, Person.objects.bulk_create(gone))
    create_person(api, "Ada", notes="harp")
    for query in ("ada", "harp", "ha", "ada harp"):
        assert found_names(api, query) == ["Ada"]


def test_the_nearest_words_are_meant(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("people.find._MAX_CORRECTIONS", 1)
    for name in ("Annemarix", "Annemxxie"):
        create_person(api, name)
    assert found_names(api, "annemarie") == ["Annemarix"]
