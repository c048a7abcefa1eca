"""The import of a vCard file through the API: the outcome of each card, and a second import changes nothing."""

import base64
import itertools
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import DataError, OperationalError
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import User
from people.models import Group, ImportantDate, LookupKey, Person
from people.services.person_writer import set_name_keys
from tests.builders import set_plan_limits
from tests.client import Client
from tests.people.importing.uploads import counts, import_vcards, vcard
from tests.people.steps import list_people
from tests.pictures import jpeg_of_scans, picture
from tests.rounds import database_settings

pytestmark = pytest.mark.sqlite_suffices


def photo_line(color: str = "red") -> str:
    data = picture("PNG", (300, 200), color=color)
    return f"PHOTO;ENCODING=b;TYPE=PNG:{base64.b64encode(data).decode()}"


def get_only_person(client: Client) -> Any:
    [person] = list_people(client)
    return person


ADA = vcard(
    "UID:ada",
    "N:Lovelace;Ada;;Lady;",
    "FN:Lady Ada Lovelace",
    "TEL;TYPE=CELL:+44 1 234567",
    "EMAIL;TYPE=HOME:ada@example.org",
    "ADR;TYPE=HOME:;;12 Long Road;London;;SW1;UK",
    "BDAY:--1210",
    "X-ANNIVERSARY:1835-07-08",
    "CATEGORIES:Maths,Friends",
    "NOTE:First",
    "X-UNKNOWN;A=b:kept\\, as it is",
    photo_line(),
)


@pytest.mark.both_databases
def test_card_becomes_a_person_with_all_its_properties(api: Client) -> None:
    response = import_vcards(api, ADA)
    assert counts(response) == (1, 0, 0, 0)
    assert response["success"] is True
    [result] = response["results"]
    person = get_only_person(api)
    assert result == {"index": 0, "name": "Lady Ada Lovelace", "status": "imported", "personId": person["id"]}
    assert (person["name"], person["surname"], person["prefix"]) == ("Ada", "Lovelace", "Lady")
    assert person["anniversary"] == "1835-07-08"
    [phone] = person["phoneNumbers"]
    assert (phone["type"], phone["number"], bool(phone["id"])) == ("cell", "+44 1 234567", True)
    assert person["addresses"][0]["streetLine1"] == "12 Long Road"
    [day] = person["importantDates"]
    assert (day["type"], day["date"], day["yearUnknown"]) == ("BIRTHDAY", "1604-12-10T00:00:00.000Z", True)
    assert {group["name"] for group in person["groups"]} == {"Maths", "Friends"}
    assert (person["uid"], person["notes"]) == ("ada", "First")
    unmapped = [line for line in Person.unscoped.get().card_lines if "fields" not in line]
    assert unmapped == [{"line": "X-UNKNOWN;A=b:kept\\, as it is"}]
    assert api.get(f"/api/photos/{person['id']}")["Content-Type"] == "image/jpeg"
    assert api.ok("GET", "/api/people/search?q=lovelace")["people"][0]["id"] == person["id"]
    assert LookupKey.objects.filter(kind=LookupKey.EMAIL, key="ada@example.org").exists()


def test_repeated_import_changes_nothing(api: Client, alice: User) -> None:
    data = ADA + vcard("FN:Bob", "TEL:1") + vcard("FN:Mum") + vcard("FN:Bob", "TEL:2")
    assert counts(import_vcards(api, data)) == (4, 0, 0, 0)
    before = list_people(api)
    alice.refresh_from_db()
    revision = alice.revision
    response = import_vcards(api, data)
    assert counts(response) == (0, 0, 4, 0)
    assert all(result["personId"] for result in response["results"])
    assert list_people(api) == before
    alice.refresh_from_db()
    assert alice.revision == revision
    assert Group.unscoped.count() == 2


@pytest.mark.both_databases
def test_newer_card_with_the_same_uid_updates_and_removes_nothing(api: Client) -> None:
    import_vcards(api, ADA)
    first = get_only_person(api)
    newer = vcard(
        "UID:urn:uuid:ada",
        "N:King;Ada;;Lady;",
        "FN:Lady Ada King",
        "TEL;TYPE=WORK:+44 1 234567",
        "TEL:99999",
        "BDAY:1815-12-10",
        "CATEGORIES:friends,New",
        photo_line("blue"),
    )
    assert counts(import_vcards(api, newer)) == (0, 1, 0, 0)
    person = get_only_person(api)
    assert person["id"] == first["id"]
    assert (person["surname"], person["notes"]) == ("King", "First")
    assert [(e["type"], e["number"]) for e in person["phoneNumbers"]] == [("cell", "+44 1 234567"), ("other", "99999")]
    assert person["emails"] == first["emails"]
    [day] = person["importantDates"]
    assert (day["id"], day["date"]) == (first["importantDates"][0]["id"], "1815-12-10T00:00:00.000Z")
    assert {group["name"] for group in person["groups"]} == {"Maths", "Friends", "New"}
    assert person["photo"] != first["photo"]
    assert counts(import_vcards(api, newer)) == (0, 0, 1, 0)


def test_card_without_uid_updates_a_namesake_with_the_same_key(api: Client) -> None:
    import_vcards(api, vcard("N:Lovelace;Ada;;;", "FN:Ada Lovelace", "EMAIL:ada@example.org"))
    response = import_vcards(
        api, vcard("N:Lovelace;Ada;;;", "FN:Ada Lovelace", "EMAIL:ADA@example.org", "TITLE:Analyst")
    )
    assert counts(response) == (0, 1, 0, 0)
    assert get_only_person(api)["jobTitle"] == "Analyst"


def test_contradicting_card_becomes_another_person(api: Client) -> None:
    two = vcard("FN:Ada", "TEL:12345", "TITLE:Analyst") + vcard("FN:Ada", "TEL:12345", "TITLE:Baker")
    assert counts(import_vcards(api, two)) == (2, 0, 0, 0)
    assert counts(import_vcards(api, two)) == (0, 0, 2, 0)
    assert len(list_people(api)) == 2


def test_duplicate_uids_lose_nobody(api: Client) -> None:
    two = vcard("UID:1", "FN:Ada") + vcard("UID:1", "FN:Bob") + vcard("UID:1", "FN:Ada")
    assert counts(import_vcards(api, two)) == (2, 0, 1, 0)
    assert counts(import_vcards(api, two)) == (0, 0, 3, 0)
    assert {person["name"] for person in list_people(api)} == {"Ada", "Bob"}


def test_bad_card_does_not_stop_the_others(api: Client) -> None:
    data = vcard("FN:Ada") + vcard("NOTE:nobody") + b"TEL:lost\r\n" + vcard("FN:Bob", "EMAIL:no address")
    response = import_vcards(api, data)
    assert counts(response) == (2, 0, 0, 2)
    assert response["success"] is True
    assert len(response["errorMessages"]) == 2
    assert response["errorMessages"][0] == "Card 2: the card has no name, and nothing else to call it by"
    assert [result["status"] for result in response["results"]] == ["imported", "error", "error", "imported"]
    assert "not valid" in response["results"][3]["reason"]
    bob = next(person for person in list_people(api) if person["name"] == "Bob")
    assert bob["customFields"][0]["value"] == "no address"


def test_a_last_card_that_was_cut_is_read_as_far_as_it_goes_and_the_receipt_says_so(api: Client) -> None:
    import_vcards(api, ADA)
    [result] = import_vcards(api, ADA[: ADA.index(b"EMAIL")].replace(b"TEL", b"TITLE:Countess\r\nTEL"))["results"]
    assert (result["status"], result["code"]) == ("updated", "card_without_end")
    person = api.ok("GET", f"/api/people/{get_only_person(api)['id']}")["person"]
    assert person["jobTitle"] == "Countess"
    assert [email["email"] for email in person["emails"]] == ["ada@example.org"]


def test_photo_of_many_scans_is_left_out_with_words(api: Client) -> None:
    data = base64.b64encode(jpeg_of_scans(201, (40, 30))).decode()
    [result] = import_vcards(api, vcard("FN:Ada", f"PHOTO;ENCODING=b;TYPE=JPEG:{data}"))["results"]
    assert result["status"] == "imported"
    assert "200 scans" in result["reason"]
    assert get_only_person(api)["photo"] is None


def test_bad_photo_loses_only_the_photo(api: Client) -> None:
    response = import_vcards(api, vcard("FN:Ada", "PHOTO;ENCODING=b:AAAA", "NOTE:kept"))
    assert counts(response) == (1, 0, 0, 0)
    assert "photo was left out" in response["results"][0]["reason"]
    assert get_only_person(api)["notes"] == "kept"


def test_group_cards_put_people_into_groups(api: Client) -> None:
    family = vcard("FN:Family", "KIND:group", "MEMBER:urn:uuid:a", "MEMBER:b", "MEMBER:nobody", version="4.0")
    data = family + vcard("UID:a", "FN:Ada") + vcard("UID:b", "FN:Bob") + vcard("UID:c", "FN:Cy")
    response = import_vcards(api, data)
    assert [result["status"] for result in response["results"]] == ["skipped", "imported", "imported", "imported"]
    members = [person["name"] for person in list_people(api) if person["groups"]]
    assert members == ["Ada", "Bob"]
    assert counts(import_vcards(api, data)) == (0, 0, 4, 0)


@pytest.mark.both_databases
def test_plan_limits_apply_to_each_card(api: Client, settings: Any) -> None:
    set_plan_limits(settings, people=2, groups=1)
    data = b"".join(vcard(f"FN:P{n}", f"CATEGORIES:G{n}") for n in range(4))
    response = import_vcards(api, data)
    assert counts(response) == (2, 0, 0, 2)
    assert "plan allows 2 people" in response["errorMessages"][0]
    assert "plan allows 1 group:" in response["results"][1]["reason"]
    assert Group.unscoped.count() == 1
    assert import_vcards(api, vcard("FN:One more"), 403)["code"] == "plan_limit"
    assert len(list_people(api)) == 2


def test_deleted_people_are_not_matched(api: Client) -> None:
    import_vcards(api, ADA)
    api.ok("DELETE", f"/api/people/{get_only_person(api)['id']}", {})
    assert counts(import_vcards(api, ADA)) == (1, 0, 0, 0)


def test_accounts_do_not_see_each_other(api: Client, stranger: Client) -> None:
    import_vcards(api, ADA)
    assert counts(import_vcards(stranger, ADA)) == (1, 0, 0, 0)
    assert counts(import_vcards(stranger, vcard("UID:ada", "FN:Stolen"))) == (0, 1, 0, 0)
    assert get_only_person(api)["name"] == "Ada"
    assert get_only_person(stranger)["name"] == "Stolen"


def test_a_form_with_a_file(api: Client) -> None:
    response = api.post("/api/vcard/import", {"file": SimpleUploadedFile("phone.vcf", ADA, "text/vcard")})
    assert counts(response.json()) == (1, 0, 0, 0)


@pytest.mark.parametrize(
    ("data", "kind", "status"),
    [
        (b"", "text/vcard", 400),
        (b"hello", "text/vcard", 400),
        (b"\x00" * 1000, "text/vcard", 400),
        (b"{}", "application/json", 415),
        (b"x", "nonsense/nonsense", 400),
        (b"x", "multipart/form-data; boundary=x", 400),
        (b"x", "multipart/form-data", 400),
    ],
)
def test_invalid_bodies_are_refused(api: Client, data: bytes, kind: str, status: int) -> None:
    assert import_vcards(api, data, status, kind)["error"]


@pytest.mark.parametrize("kind", ["text/vcard", "multipart"])
def test_a_file_over_the_limit_is_413(api: Client, settings: Any, kind: str) -> None:
    settings.MAX_VCARD_BYTES = 1000
    data = vcard("FN:Ada", "NOTE:" + "x" * 2000)
    if kind == "multipart":
        response = api.post("/api/vcard/import", {"file": SimpleUploadedFile("a.vcf", data)})
    else:
        response = api.generic("POST", "/api/vcard/import", data, "text/vcard; charset=utf-8")
    assert (response.status_code, response.json()["code"]) == (413, "too_large")


def test_a_charset_in_the_content_type(api: Client) -> None:
    import_vcards(api, vcard("FN:Ядвига").decode().encode("koi8-r"), content_type="text/vcard; charset=koi8-r")
    assert get_only_person(api)["name"] == "Ядвига"


@pytest.mark.both_databases
def test_hostile_text_becomes_harmless_data(api: Client) -> None:
    names = [b"\xed\xa0\x80 A", b"B\0", "\u0301\u0302".encode(), "👩‍👩‍👧".encode(), "\u202eevil".encode(), b"<script>"]
    data = b"".join(vcard("FN:@", f"UID:{n}").replace(b"@", name) for n, name in enumerate(names))
    assert counts(import_vcards(api, data)) == (6, 0, 0, 0)
    assert len(list_people(api)) == 6
    assert counts(import_vcards(api, data)) == (0, 0, 6, 0)


def test_card_refused_by_the_database_does_not_stop_the_others(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(person: Person) -> None:
        if person.name == "Bad":
            raise DataError("no")
        original(person)

    original = set_name_keys
    monkeypatch.setattr("people.services.person_writer.set_name_keys", refuse)
    response = import_vcards(api, vcard("FN:Ada") + vcard("FN:Bad") + vcard("FN:Bob"))
    assert counts(response) == (2, 0, 0, 1)
    assert response["errorMessages"] == ["Card 2 (Bad): this record could not be stored"]


@pytest.mark.both_databases
def test_database_failing_half_way_is_reported(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("people.importing.vcards._BATCH_CARDS", 2)
    data = b"".join(vcard(f"FN:P{n}", f"UID:{n}") for n in range(5))
    calls = itertools.count()

    def fail(*args: Any) -> None:
        if next(calls) in failing_calls:
            raise OperationalError("server closed the connection")

    User.objects.update(is_mirrored=True)
    monkeypatch.setattr("people.services.person_writer.announce_change", fail)
    failing_calls = [0, 2]
    assert import_vcards(api, data, 503)["code"] == "unavailable"
    assert list_people(api) == []
    response = import_vcards(api, data)
    assert counts(response) == (2, 0, 0, 3)
    assert response["errorMessages"][0].startswith("Card 3 (P2): not tried")
    assert counts(import_vcards(api, data)) == (3, 0, 2, 0)


def test_pictures_beyond_the_pixels_of_one_file_are_left_out(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("people.photos.images.MAX_PIXELS_PER_REQUEST", 2 * 300 * 200)
    response = import_vcards(
        api, b"".join(vcard(f"FN:{color}", photo_line(color)) for color in ("red", "green", "blue"))
    )
    assert counts(response) == (3, 0, 0, 0)
    assert "megapixels" in response["results"][2]["reason"]
    assert [bool(person["photo"]) for person in list_people(api)] == [False, True, True]


@pytest.mark.both_databases
def test_queries_do_not_grow_with_the_cards(
    api: Client, django_assert_max_num_queries: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("people.importing.log._SECONDS_BETWEEN_COUNTS", 3600)
    # Nine of them insert the people, as SQLite takes 999 values at once; seven count the bytes of a new account.
    with django_assert_max_num_queries(66):
        response = import_vcards(
            api, b"".join(vcard(f"FN:P{n}", f"TEL:{n}00000", "BDAY:2000-01-01", "CATEGORIES:G") for n in range(150))
        )
    assert counts(response) == (150, 0, 0, 0)
    assert ImportantDate.unscoped.count() == 150


LINES = st.lists(
    st.sampled_from(
        [
            "TEL:12345",
            "TEL:23456",
            "EMAIL:a@b.org",
            "TITLE:A",
            "TITLE:B",
            "BDAY:2000-01-01",
            "BDAY:2000-01-02",
            "NOTE:x",
        ]
    ),
    max_size=3,
    unique=True,
)
FILES = st.lists(
    st.tuples(st.sampled_from(["Ada", "Bob"]), st.sampled_from(["", "UID:1", "UID:2"]), LINES), min_size=1, max_size=5
)


@pytest.mark.both_databases
@database_settings(10)
@given(FILES)
def test_any_file_twice_is_the_same_as_once(api: Client, file: list[tuple[str, str, list[str]]]) -> None:
    Person.unscoped.all().delete()
    data = b"".join(vcard(f"FN:{name}", *filter(None, [uid]), *lines) for name, uid, lines in file)
    import_vcards(api, data)
    before = list_people(api)
    response = import_vcards(api, data)
    assert counts(response) == (0, 0, len(file), 0)
    assert list_people(api) == before


def test_many_namesakes_are_told_apart_by_their_numbers(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than are compared, and more than one query reads."""
    monkeypatch.setattr("people.importing.matches._MAX_NAMESAKES", 20)
    monkeypatch.setattr("people.importing.matches._MAX_CANDIDATES", 100)
    data = b"".join(vcard("FN:Anna", f"TEL:+4915{n:07d}") for n in range(120))
    assert counts(import_vcards(api, data)) == (120, 0, 0, 0)
    assert counts(import_vcards(api, data)) == (0, 0, 120, 0)


def test_numbers_agree_nationally_and_internationally(api: Client) -> None:
    import_vcards(api, vcard("FN:Anna", "TEL:+49 151 2345678"))
    assert counts(import_vcards(api, vcard("FN:Anna", "TEL:0151 2345678", "TITLE:Cook"))) == (0, 1, 0, 0)
    assert get_only_person(api)["jobTitle"] == "Cook"
