"""An import of vCards is in the list of imports and can be undone, with its groups."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from people.models import AwaitedMember, ContactImport
from tests.builders import set_plan_limits
from tests.client import Client
from tests.people.importing.test_group_cards import ADA, BOB, group_card, members_of
from tests.people.importing.test_undo_import import undo
from tests.people.importing.uploads import import_vcards, people_by_name, vcard
from tests.people.steps import create_person

pytestmark = pytest.mark.sqlite_suffices

CARDS = vcard("UID:a", "FN:Ada", "CATEGORIES:Maths") + vcard("UID:b", "FN:Bob") + vcard("NOTE:?")


def list_imports(api: Client) -> list[Any]:
    imports: list[Any] = api.ok("GET", "/api/imports")["imports"]
    return imports


def test_an_import_is_in_the_list(api: Client) -> None:
    receipt = import_vcards(api, CARDS)
    [row] = list_imports(api)
    assert (row["id"], row["source"], row["fileName"]) == (receipt["importId"], "vcard", "")
    assert [row[key] for key in ("imported", "updated", "skipped", "errors", "undoneAt")] == [2, 0, 0, 1, None]
    assert row["endedAt"]


def test_the_name_of_an_uploaded_file_is_in_the_list(api: Client) -> None:
    form = encode_multipart(BOUNDARY, {"file": SimpleUploadedFile("phone.vcf", CARDS, "text/vcard")})
    assert api.generic("POST", "/api/vcard/import", form, MULTIPART_CONTENT).status_code == 200
    assert list_imports(api)[0]["fileName"] == "phone.vcf"


def test_undo_removes_people_and_groups(api: Client) -> None:
    data = CARDS + group_card("Friends", "a", "b") + group_card("Empty")
    receipt = import_vcards(api, data)
    assert members_of(api) == {"Empty": [], "Friends": ["Ada", "Bob"], "Maths": ["Ada"]}
    assert undo(api, receipt["importId"]) == {"removed": 2, "kept": []}
    assert (people_by_name(api), members_of(api)) == ({}, {})
    assert list_imports(api)[0]["undoneAt"]
    assert undo(api, receipt["importId"], 400)["code"] == "already_undone"


def test_undo_takes_people_who_were_there_out_of_the_groups(api: Client) -> None:
    person_id = create_person(api, "Ada")
    import_vcards(api, vcard("FN:Bob", "UID:b", "CATEGORIES:Friends"))
    receipt = import_vcards(api, group_card("Friends", f"urn:uuid:{person_id}") + group_card("New", "b"))
    assert members_of(api) == {"Friends": ["Ada", "Bob"], "New": ["Bob"]}
    assert undo(api, receipt["importId"]) == {"removed": 0, "kept": []}
    assert members_of(api) == {"Friends": ["Bob"]}


def test_undo_restores_what_a_card_changed(api: Client) -> None:
    import_vcards(api, vcard("UID:a", "FN:Ada", "NOTE:before"))
    receipt = import_vcards(api, vcard("UID:a", "FN:Ada", "NOTE:after", "BDAY:1815-12-10"))
    assert receipt["updated"] == 1
    assert undo(api, receipt["importId"]) == {"removed": 0, "kept": []}
    person = people_by_name(api)["Ada"]
    assert (person["notes"], person["importantDates"]) == ("before", [])


def test_undo_keeps_edited_people_and_their_groups(api: Client) -> None:
    receipt = import_vcards(api, CARDS + group_card("Friends", "a", "b"))
    ada = people_by_name(api)["Ada"]
    api.ok("PUT", f"/api/people/{ada['id']}", {"nickname": "Countess"})
    result = undo(api, receipt["importId"])
    assert (result["removed"], [kept["personId"] for kept in result["kept"]]) == (1, [ada["id"]])
    assert members_of(api) == {"Friends": ["Ada"], "Maths": ["Ada"]}


@pytest.mark.both_databases
def test_undo_of_a_group_card_waits_for_nobody_any_more(api: Client) -> None:
    import_vcards(api, group_card("Friends", ADA))
    receipt = import_vcards(api, group_card("Friends", ADA, BOB))
    undo(api, receipt["importId"])
    assert [row.uid_key for row in AwaitedMember.unscoped.all()] == [ADA]
    import_vcards(api, vcard(f"UID:{ADA}", "FN:Ada") + vcard(f"UID:{BOB}", "FN:Bob"))
    assert members_of(api) == {"Friends": ["Ada"]}


def test_undo_of_a_later_file_removes_who_joined_by_it(api: Client) -> None:
    import_vcards(api, group_card("Friends", ADA))
    receipt = import_vcards(api, vcard(f"UID:{ADA}", "FN:Ada"))
    assert undo(api, receipt["importId"]) == {"removed": 1, "kept": []}
    assert members_of(api) == {"Friends": []}


@pytest.mark.both_databases
def test_an_import_that_the_plan_refuses_is_not_listed(api: Client, settings: Any) -> None:
    set_plan_limits(settings, people=0, groups=5)
    assert import_vcards(api, vcard("FN:Ada"), 403)["code"] == "plan_limit"
    assert import_vcards(api, b"hello", 400)
    assert list_imports(api) == []
    assert not ContactImport.unscoped.exists()


def test_imports_of_others_are_not_listed_and_not_undone(api: Client, stranger: Client) -> None:
    receipt = import_vcards(api, CARDS)
    assert list_imports(stranger) == []
    undo(stranger, receipt["importId"], 404)
    assert set(people_by_name(api)) == {"Ada", "Bob"}


def test_vcards_have_no_route_among_the_other_imports(api: Client) -> None:
    form = encode_multipart(BOUNDARY, {"file": SimpleUploadedFile("phone.vcf", CARDS)})
    assert api.generic("POST", "/api/import/vcard", form, MULTIPART_CONTENT).status_code == 404
