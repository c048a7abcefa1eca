"""Values of custom fields: what each type accepts and returns."""

from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.errors import FieldError
from people.models import CustomFieldTemplate, CustomFieldValue, Person
from people.services.person_writer import update_person
from tests.builders import UNKNOWN_ID
from tests.client import Client

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_suffices]


def template(api: Client, kind: str) -> str:
    body = {"name": kind, "type": kind, "options": ["small", "Large"] if kind == "SELECT" else []}
    key: str = api.ok("post", "/api/custom-field-templates", body, status=201)["customFieldTemplate"]["id"]
    return key


def put(api: Client, person: Person, entries: Any, status: int = 200) -> Any:
    response = api.ok("put", f"/api/people/{person.pk}", {"customFieldValues": entries}, status=status)
    return response["person"]["customFieldValues"] if status == 200 else response["details"]


@pytest.mark.parametrize(
    ("kind", "sent", "stored"),
    [
        ("TEXT", " blue ", "blue"),
        ("TEXT", "5", "5"),
        ("TEXT", "two\r\nlines", "two\nlines"),
        ("TEXT", "x" * 2000, "x" * 2000),
        ("NUMBER", 42, 42),
        ("NUMBER", -3.25, -3.25),
        ("NUMBER", 5.0, 5),
        ("NUMBER", "42", 42),
        ("NUMBER", " 3.5 ", 3.5),
        ("NUMBER", "-1e3", -1000),
        ("NUMBER", 0, 0),
        ("NUMBER", 2**53, 2**53),
        ("NUMBER", "0" * 41 + "5", 5),
        ("NUMBER", "-" + "0" * 1998 + "5", -5),
        ("BOOLEAN", True, True),
        ("BOOLEAN", False, False),
        ("BOOLEAN", "true", True),
        ("BOOLEAN", "FALSE", False),
        ("SELECT", "Large", "Large"),
    ],
)
def test_value_is_returned_in_its_type(api: Client, ada: Person, kind: str, sent: Any, stored: Any) -> None:
    key = template(api, kind)
    (entry,) = put(api, ada, [{"templateId": key, "value": sent}])
    assert entry["value"] == stored
    assert type(entry["value"]) is type(stored)
    assert entry["templateId"] == key
    assert entry["template"] == {"id": key, "name": kind, "slug": kind.lower(), "type": kind}
    assert api.ok("get", f"/api/people/{ada.pk}")["person"]["customFieldValues"] == [entry]
    listed = api.ok("get", "/api/people?includeAll=true")["people"][0]["customFieldValues"]
    assert listed == [entry]


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("TEXT", 5),
        ("TEXT", True),
        ("TEXT", ["x"]),
        ("TEXT", "a\0b"),
        ("TEXT", "x" * 2001),
        ("NUMBER", "many"),
        ("NUMBER", "1,5"),
        ("NUMBER", "0x10"),
        ("NUMBER", "nan"),
        ("NUMBER", "1e999"),
        ("NUMBER", "1e300"),
        ("NUMBER", "9" * 400),
        ("NUMBER", "9" * 2000),
        ("NUMBER", 2**53 + 1),
        ("NUMBER", "٣"),
        ("NUMBER", True),
        ("NUMBER", {}),
        ("BOOLEAN", 1),
        ("BOOLEAN", "yes"),
        ("SELECT", "large"),
        ("SELECT", 1),
    ],
)
def test_invalid_values_are_reported(api: Client, ada: Person, kind: str, value: Any) -> None:
    key = template(api, kind)
    (problem,) = put(api, ada, [{"templateId": key, "value": value}], 400)
    assert problem["field"] == "customFieldValues.0.value"
    assert not CustomFieldValue.unscoped.exists()


def test_the_set_is_replaced_and_unchanged_entries_keep_their_id(api: Client, ada: Person) -> None:
    text, number = template(api, "TEXT"), template(api, "NUMBER")
    first, _ = put(api, ada, [{"templateId": text, "value": "a"}, {"templateId": number, "value": 1}])
    (kept,) = put(api, ada, [first])
    assert kept == first
    assert api.ok("put", f"/api/people/{ada.pk}", {"nickname": "A"})["person"]["customFieldValues"] == [first]
    assert put(api, ada, [{"templateId": text, "value": ""}]) == []
    assert put(api, ada, [{"templateId": text, "value": None}]) == []


def test_an_entry_names_an_own_template_once(api: Client, stranger: Client, ada: Person) -> None:
    mine, foreign = template(api, "TEXT"), template(stranger, "TEXT")
    entry = {"templateId": mine, "value": "x"}
    for index, entries in enumerate(
        [
            [{"templateId": foreign, "value": "x"}],
            [{"templateId": UNKNOWN_ID, "value": "x"}],
            [{"templateId": 5, "value": "x"}],
            [{"value": "x"}],
        ]
    ):
        (problem,) = put(api, ada, entries, 400)
        assert problem["field"] == "customFieldValues.0.templateId", index
    assert put(api, ada, [entry, entry], 400)[0]["field"] == "customFieldValues.1.templateId"
    assert put(api, ada, [{"templateId": mine}], 400)[0]["field"] == "customFieldValues.0.value"
    assert put(api, ada, ["x"], 400)[0]["field"] == "customFieldValues.0"
    assert put(api, ada, {"templateId": mine}, 400)[0]["field"] == "customFieldValues"
    assert put(api, ada, [entry] * 101, 400)[0]["field"] == "customFieldValues"


def test_value_of_a_removed_option_is_refused(api: Client, alice: User, ada: Person) -> None:
    """A stored value is always one of the options, for new and for changed values."""
    key = template(api, "SELECT")
    read = {"custom_field_values": [{"template": CustomFieldTemplate.objects.owned_by(alice).get(), "value": "small"}]}
    change = {"name": "SELECT", "options": ["tiny", "Large"]}
    for stored in ([], [{"templateId": key, "value": "Large"}]):
        put(api, ada, stored)
        api.ok("put", f"/api/custom-field-templates/{key}", change)
        with pytest.raises(FieldError, match="options"):
            update_person(owner=alice, person=ada, data=read, now=timezone.now())
