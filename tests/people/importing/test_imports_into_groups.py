"""Imports into groups: everybody of the file joins, also who was equal already, and undo takes them out again."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from tests.builders import UNKNOWN_ID
from tests.client import Client
from tests.people.importing.uploads import counts, import_file, import_vcards, people_by_name, vcard

pytestmark = [pytest.mark.sqlite_suffices, pytest.mark.django_db]

ADA = vcard("FN:Ada", "N:;Ada;;;", "EMAIL:ada@example.com", "UID:ada")
BEN = vcard("FN:Ben", "N:;Ben;;;")


def add_group(api: Client, name: str = "Team", **fields: Any) -> str:
    return str(api.ok("POST", "/api/groups", {"name": name, **fields}, status=201)["group"]["id"])


def groups(api: Client) -> dict[str, list[str]]:
    return {name: [group["name"] for group in person["groups"]] for name, person in people_by_name(api).items()}


def import_form(api: Client, data: bytes, group_ids: str, status: int = 200) -> Any:
    form = encode_multipart(BOUNDARY, {"file": SimpleUploadedFile("a.vcf", data), "groupIds": group_ids})
    response = api.generic("POST", "/api/vcard/import", form, MULTIPART_CONTENT)
    assert response.status_code == status, response.content
    return response.json()


def import_into(api: Client, data: bytes, *group_ids: str) -> Any:
    path = f"/api/vcard/import?groupIds={','.join(group_ids)}"
    response = api.generic("POST", path, data, "text/vcard")
    assert response.status_code == 200, response.content
    return response.json()


@pytest.mark.both_databases
def test_everybody_of_a_vcard_file_joins(api: Client) -> None:
    team, choir = add_group(api), add_group(api, "Choir")
    import_vcards(api, ADA + BEN)
    receipt = import_into(api, ADA + BEN + vcard("FN:Cleo", "N:;Cleo;;;"), team, choir)
    # Ben has no contact data: the groups must not make a second one of him.
    assert groups(api) == {name: ["Choir", "Team"] for name in ("Ada", "Ben", "Cleo")}
    assert counts(receipt) == (1, 2, 0, 0)
    assert counts(import_into(api, ADA + BEN, team, choir)) == (0, 0, 2, 0)
    api.ok("DELETE", f"/api/imports/{receipt['importId']}")
    assert groups(api) == {"Ada": [], "Ben": []}


def test_the_form_names_the_groups_beside_the_file(api: Client) -> None:
    team = add_group(api)
    import_form(api, ADA, f'["{team}"]')
    assert groups(api) == {"Ada": ["Team"]}


@pytest.mark.both_databases
def test_everybody_of_a_table_joins(api: Client) -> None:
    team = add_group(api, contactReminder={"interval": 3, "unit": "WEEKS"})
    table = "First Name,Email\nAda,ada@example.com\n"
    import_file(api, "csv", table)
    receipt = import_file(api, "csv", table, dryRun="true", groupIds=f'["{team}"]')
    assert (groups(api), counts(receipt)) == ({"Ada": []}, (0, 1, 0, 0))
    receipt = import_file(api, "csv", table, groupIds=f'["{team}"]')
    assert groups(api) == {"Ada": ["Team"]}
    assert people_by_name(api)["Ada"]["contactReminderFrom"]["name"] == "Team"
    api.ok("DELETE", f"/api/imports/{receipt['importId']}")
    ada = people_by_name(api)["Ada"]
    assert (groups(api), ada["contactReminderEnabled"]) == ({"Ada": []}, False)


def test_only_own_active_groups_are_taken(api: Client, stranger: Client) -> None:
    foreign, deleted = add_group(stranger), add_group(api, "Gone")
    api.ok("DELETE", f"/api/groups/{deleted}")
    for key in (foreign, deleted, UNKNOWN_ID, "x"):
        assert import_form(api, ADA, f'["{key}"]', 400)["details"][0]["field"] == "groupIds.0"
    for text in ("{}", "x", '"a"'):
        assert import_form(api, ADA, text, 400)["details"][0]["field"] == "groupIds"
    assert people_by_name(api) == {}
