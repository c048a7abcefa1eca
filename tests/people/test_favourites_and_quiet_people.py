"""`favourite` and `quiet` of a person: in requests and answers, on cards, in merging, exports and imports."""

from typing import Any

import orjson
import pytest

from accounts.models import User
from people.models import Person
from tests.client import Client, client_of
from tests.people.importing.test_address_book_imports import NEW_GOOGLE, OLD_GOOGLE, table
from tests.people.importing.uploads import import_file, import_vcards, vcard
from tests.people.test_deathday_and_phonetic_names import export

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_suffices]

FLAGS = ("favourite", "quiet")


def create(api: Client, **body: Any) -> dict[str, Any]:
    person: dict[str, Any] = api.ok("POST", "/api/people", {"name": "Ada", **body}, status=201)["person"]
    return person


def flags(person: dict[str, Any]) -> tuple[bool, bool]:
    return person["favourite"], person["quiet"]


def update(api: Client, person: dict[str, Any], **body: Any) -> dict[str, Any]:
    changed: dict[str, Any] = api.ok("PUT", f"/api/people/{person['id']}", body)["person"]
    return changed


def test_they_are_false_until_they_are_set_and_stay_until_they_are_changed(api: Client) -> None:
    ada = create(api)
    assert flags(ada) == (False, False)
    before = api.ok("GET", "/api/changes")["cursor"]
    assert flags(update(api, ada, favourite=True)) == (True, False)
    assert flags(update(api, ada, quiet=True)) == (True, True)
    assert flags(update(api, ada, notes="kept")) == (True, True)
    (listed,) = api.ok("GET", "/api/people")["people"]
    (found,) = api.ok("GET", "/api/people/search?q=ada")["people"]
    (changed,) = api.ok("GET", f"/api/changes?cursor={before}")["changes"]
    assert flags(listed) == flags(found) == flags(changed["record"]) == (True, True)
    for value in (None, 1, "true"):
        answer = api.call("PUT", f"/api/people/{ada['id']}", {"quiet": value})
        assert (answer.status_code, answer.json()["details"][0]["field"]) == (400, "quiet")


@pytest.mark.parametrize(
    ("line", "is_favourite"),
    [
        ("X-ANDROID-STARRED:1", True),
        ("X-ANDROID-STARRED:0", False),
        ("x-davdroid-starred:1", True),
        ("item1.X-DAVDROID-STARRED;X-ODD=1:true", True),
        ("X-ANDROID-STARRED:maybe", False),
    ],
)
def test_stars_of_cards_are_read_and_written_back_as_they_came(api: Client, line: str, is_favourite: bool) -> None:
    import_vcards(api, vcard("N:;Ada;;;", "FN:Ada", line, "NOTE:n"))
    (ada,) = api.ok("GET", "/api/people")["people"]
    assert flags(ada) == (is_favourite, False)
    update(api, ada, notes="other", quiet=True)
    for version in ("3.0", "4.0"):
        assert f"\n{line}\r\n".upper() in export(api, f"?version={version}").upper()
    update(api, ada, favourite=not is_favourite)
    starred = [text for text in export(api).splitlines() if "STARRED" in text.upper()]
    assert starred == ([] if is_favourite else [f"{line.rpartition(':')[0]}:1"])


def test_a_favourite_made_here_is_one_for_android(api: Client) -> None:
    create(api, favourite=True)
    for version in ("3.0", "4.0"):
        assert "\nX-ANDROID-STARRED:1\r\n" in export(api, f"?version={version}")
    update(api, api.ok("GET", "/api/people")["people"][0], favourite=False)
    assert "STARRED" not in export(api)


def test_a_star_is_one_whichever_program_wrote_it(api: Client) -> None:
    lines = ("X-ANDROID-STARRED:0", "X-DAVDROID-STARRED:1")
    import_vcards(api, vcard("N:;Ada;;;", "FN:Ada", *lines))
    (ada,) = api.ok("GET", "/api/people")["people"]
    assert ada["favourite"] is True
    assert update(api, ada, notes="n")["more"] == []
    update(api, ada, favourite=False)
    assert "STARRED" not in export(api)


def test_a_card_that_says_nothing_leaves_the_star(api: Client) -> None:
    ada = create(api, favourite=True, emails=[{"email": "ada@example.org"}])
    for lines in ((), ("X-ANDROID-STARRED:0",)):
        import_vcards(api, vcard("N:;Ada;;;", "FN:Ada", "EMAIL:ada@example.org", f"UID:{ada['uid']}", *lines))
        assert api.ok("GET", f"/api/people/{ada['id']}")["person"]["favourite"] is True


@pytest.mark.parametrize(
    "label",
    [
        "* starred",
        "* Starred",
        "* Starred in Android",
        "* Markiert",
        "* Suivis",
        "* Destacados",
        "* スター付き",
        "*Com estrela",
    ],
)
def test_the_label_of_google_makes_a_favourite(api: Client, label: str) -> None:
    others = {"Labels": f"* myContacts ::: {label} ::: Compilers"}
    import_file(api, "google", table({**NEW_GOOGLE, **others}, {**NEW_GOOGLE, "First Name": "Bob"}))
    import_file(api, "google", table({**OLD_GOOGLE, "Group Membership": f"starred ::: {label.removeprefix('*')}"}))
    people = api.ok("GET", "/api/people")["people"]
    assert [(person["name"], person["favourite"]) for person in people] == [
        ("Ada", False),
        ("Bob", False),
        ("Grace", True),
    ]
    assert [group["name"] for group in people[2]["groups"]] == ["Compilers"]
    assert "starred" in {group["name"] for group in people[0]["groups"]}  # a label that the user has made


def test_a_column_of_a_table_may_hold_them(api: Client) -> None:
    mapping = orjson.dumps({"Name": "name", "Star": "favourite", "Silent": "quiet"}).decode()
    rows = "Name,Star,Silent\nAda,yes,no\nBob,nein,ja\nEve,,\nKim,x,perhaps\n"
    receipt = import_file(api, "csv", rows, mapping=mapping)
    assert [row["name"] for row in receipt["results"] if "reason" in row] == ["Kim"]
    found = {person["name"]: flags(person) for person in api.ok("GET", "/api/people")["people"]}
    assert found == {"Ada": (True, False), "Bob": (False, True), "Eve": (False, False), "Kim": (True, False)}


@pytest.mark.parametrize("primary", [(True, True), (False, False), (True, False), (False, True)])
@pytest.mark.parametrize("secondary", [(True, True), (False, True), (False, False)])
def test_a_merged_person_is_favourite_if_one_is_and_quiet_only_if_both_are(
    api: Client, primary: tuple[bool, bool], secondary: tuple[bool, bool]
) -> None:
    first, second = (create(api, **dict(zip(FLAGS, values, strict=True))) for values in (primary, secondary))
    body = {"primaryId": first["id"], "secondaryId": second["id"]}
    merged = api.ok("POST", "/api/people/merge", body)
    assert flags(merged["person"]) == (primary[0] or secondary[0], primary[1] and secondary[1])
    undone = api.ok("POST", f"/api/people/merge/{merged['mergeId']}/undo")["person"]
    assert flags(undone) == primary
    assert flags(api.ok("GET", f"/api/people/{second['id']}")["person"]) == secondary


def test_overrides_of_a_merge_win(api: Client) -> None:
    first, second = create(api, favourite=True), create(api, quiet=True)
    body = {"primaryId": first["id"], "secondaryId": second["id"]}
    answer = api.call("POST", "/api/people/merge", {**body, "fieldOverrides": {"quiet": None}})
    assert answer.status_code == 400
    overrides = {"favourite": False, "quiet": True}
    assert flags(api.ok("POST", "/api/people/merge", {**body, "fieldOverrides": overrides})["person"]) == (False, True)


def test_they_survive_export_and_import_of_an_account(api: Client, mallory: User) -> None:
    create(api, favourite=True, quiet=True)
    create(api, name="Bob")
    data = api.ok("GET", "/api/user/export")
    for person in data["people"]:
        if person["name"] == "Bob":
            del person["favourite"], person["quiet"]  # as older versions export people
    other = client_of(mallory)
    other.ok("POST", "/api/user/import", data)
    assert {row.name: (row.favourite, row.quiet) for row in Person.objects.owned_by(mallory)} == {
        "Ada": (True, True),
        "Bob": (False, False),
    }


def test_an_import_that_made_a_favourite_takes_the_star_out_again(api: Client) -> None:
    ada = create(api, surname="Lovelace", emails=[{"email": "ada@example.org"}])
    receipt = import_file(api, "google", table({**OLD_GOOGLE, "Name": "", "Additional Name": "", "Name Prefix": ""}))
    assert receipt["updated"] == 1
    assert api.ok("GET", f"/api/people/{ada['id']}")["person"]["favourite"] is True
    api.ok("DELETE", f"/api/imports/{receipt['importId']}")
    assert api.ok("GET", f"/api/people/{ada['id']}")["person"]["favourite"] is False
