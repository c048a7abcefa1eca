"""Every field that an edit or a conflict may name has words in every language; rows are searched by the fields."""

from typing import Any

from people.field_table import FIELDS
from tests.routes.openapi import document
from tests.web.modules import run_in_client
from tests.web.test_texts import LANGUAGES, catalogue

PATHS = {
    "person": "/api/people",
    "group": "/api/groups",
    "importantDate": "/api/people/{personId}/important-dates",
    "interaction": "/api/interactions",
    "relationship": "/api/relationships",
    "relationshipType": "/api/relationship-types",
    "customFieldTemplate": "/api/custom-field-templates",
}
DESCRIBE_ALL = """
const { describeField } = await load("features/sync/describe.ts");
const { loadAllTexts, setLanguage } = await load("i18n/index.ts");
await loadAllTexts();
const words = {};
for (const language of input.languages) {
  await setLanguage(language);
  words[language] = input.fields.map(([type, field]) => [type, field, describeField(type, field)]);
}
return words;
"""
DESCRIBE_EDITS = """
const { describeEdit } = await load("features/sync/describe.ts");
const account = { person: () => ({ name: "Ada" }) };
return input.map(([type, body]) => describeEdit(account, { type, id: "1", action: "update", base: {}, body }));
"""
SEARCH = """
const { byName, search, toPersonRow } = await load("store/people.ts");
const lists = { phoneNumbers: [], emails: [], addresses: [], locations: [], createdAt: "2026-01-01T00:00:00Z" };
const settings = { nameOrder: "WESTERN", nameDisplayFormat: "FULL" };
const rows = byName(input.people.map((person) => toPersonRow({ ...lists, ...person })), settings);
return input.queries.map((query) => search(rows, query).map(({ id }) => id));
"""


def fields_of_requests(path: str) -> set[str]:
    """The fields that a body at the path or at one of its records may have."""
    found: set[str] = set()
    for other, item in document()["paths"].items():
        if other == path or (other.startswith(f"{path}/{{") and other.count("/") == path.count("/") + 1):
            for method in item.keys() & {"post", "put", "patch"}:
                schema = item[method]["requestBody"]["content"]["application/json"]["schema"]
                found |= document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]["properties"].keys()
    assert found, path
    return found - {"id"}


def all_fields() -> list[tuple[str, str]]:
    named = {("person", field.name) for field in FIELDS}
    return sorted(named | {(kind, name) for kind, path in PATHS.items() for name in fields_of_requests(path)})


def test_every_field_has_words_in_every_language() -> None:
    fields = all_fields()
    assert len(fields) > 75
    words = run_in_client(DESCRIBE_ALL, {"fields": fields, "languages": ["en", *LANGUAGES]})
    assert sorted(words) == sorted(["en", *LANGUAGES])
    for language, described in words.items():
        assert [(kind, name) for kind, name, _ in described] == fields
        assert [(kind, name) for kind, name, text in described if text in {name, ""}] == []
        if language != "en":
            translations = catalogue(language)
            expected = [translations[english] for _, _, english in words["en"]]
            assert [text for _, _, text in described] == expected


def test_an_edit_names_its_fields_in_the_order_of_the_table() -> None:
    edits: list[tuple[str, dict[str, Any]]] = [
        ("person", {"favourite": True}),
        ("person", {"quiet": True, "notes": "", "ofANewerService": 1, "surname": "King", "groupIds": []}),
        ("group", {"color": "#000000", "name": "Family"}),
        ("importantDate", {"reminderEnabled": True, "date": "2026-01-01"}),
    ]
    assert run_in_client(DESCRIBE_EDITS, edits) == [
        "Person changed: Ada (Favourite)",
        "Person changed: Ada (Surname, Notes, Groups, Quiet, ofANewerService)",
        "Group changed: Family (Name, Colour)",
        "Date changed: Date (Day, Reminder)",
    ]


def test_rows_are_searched_by_every_field_of_the_table() -> None:
    """A name also with one wrong letter, as the service does; a number by its digits, however it is written."""
    searched = [field for field in FIELDS if field.search]
    people: list[dict[str, Any]] = [{"id": "nobody", "name": "Cid"}]
    for field in searched:
        value = "+49 (30) 12-3456" if field.search == "digits" else f"Zephyr{field.name}"
        people += [
            {"id": f"{field.name} {key}", "name": "Cid", field.name: [{key: value}]} for key in field.indexed_keys
        ]
        if not field.indexed_keys:
            people.append({"id": field.name, "name": "Cid", field.name: value})
    queries = {f"zephyr{field.name}": field for field in searched if field.search != "digits"}
    mistyped = {
        f"zefhyr{name.removeprefix('zephyr')}": field for name, field in queries.items() if not field.indexed_keys
    }
    [numbers] = [field for field in searched if field.search == "digits"]
    assert len(queries) > 15
    asked = {**queries, **mistyped, "30123456": numbers}
    results = run_in_client(SEARCH, {"people": people, "queries": list(asked)})
    for (query, field), found in zip(asked.items(), results, strict=True):
        ids = {f"{field.name} {key}" for key in field.indexed_keys} or {field.name}
        if query in mistyped and field.search != "name":
            ids = set()
        assert set(found) == ids, query
