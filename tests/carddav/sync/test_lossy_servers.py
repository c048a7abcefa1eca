"""Real servers store cards in their own spelling. That is not mistaken for an edit."""

import base64
import re
from urllib.parse import quote

import pytest

from carddav.client.discovery import discover
from carddav.models import Conflict, Mapping
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.webdav.hrefs import href_key
from contacts_project.kernel.webdav.login import Login
from contacts_project.kernel.webdav.session import open_session
from people.contents.contact import load_local_contacts
from people.contents.fields import EMPTY_FIELDS, remote_fields
from people.models import ImportantDate, Person
from people.vcard import read_card
from tests.carddav.conftest import USER, card
from tests.carddav.faults import method
from tests.carddav.proxy import Fault, Reply, Request
from tests.carddav.servers import PASSWORD
from tests.carddav.sync.server_synced_account import ServerSyncedAccount
from tests.carddav.sync.synced_account import counts
from tests.people.vcard.real_cards import needs_real_cards, real_cards
from tests.pictures import picture, upload

# Servers behave the same with any database; test_real_servers.py and the random histories are run on both.
pytestmark = pytest.mark.one_database


def put_real_cards(server_synced: ServerSyncedAccount) -> int:
    """Store all real cards that the server accepts, as another client; returns their number."""
    taken = 0
    for number, data in enumerate(real_cards().values()):
        text = data.decode("utf-8", "replace").replace("\x00", "")
        path = f"{server_synced.path}{number}.vcf"
        status, _ = server_synced.server.call("PUT", path, USER, text, "text/vcard; charset=utf-8")
        taken += status in {200, 201, 204}
    return taken


def fields_by_person(server_synced: ServerSyncedAccount) -> dict[str, dict[str, object]]:
    people = list(Person.objects.owned_by(server_synced.owner).active().values_list("pk", flat=True))
    return {str(key): side.fields for key, side in load_local_contacts(server_synced.owner, people).items()}


@needs_real_cards
def test_editing_real_cards_changes_no_other_field(server_synced: ServerSyncedAccount) -> None:
    taken = put_real_cards(server_synced)
    first = server_synced.sync()
    assert first.code == ""
    assert first.imported + first.errors >= taken - 2, first.error_messages  # group cards are not people
    assert server_synced.proxy.count("PROPFIND", "REPORT") <= 7 + -(-taken // 50), server_synced.proxy.log()
    server_synced.assert_in_sync()
    before = fields_by_person(server_synced)
    with account_write(server_synced.owner):
        Person.objects.owned_by(server_synced.owner).active().update(job_title="Tester")
    pushed = server_synced.sync()
    assert (pushed.code, pushed.conflicts, pushed.updated_locally) == ("", 0, 0), pushed.error_messages
    edited = len(before)
    writes, reads = server_synced.proxy.count("PUT"), server_synced.proxy.count("PROPFIND", "REPORT")
    assert 0 < writes <= edited
    assert reads <= 1 + -(-edited // 50)
    for _ in range(2):
        server_synced.assert_in_sync()
    after = fields_by_person(server_synced)
    assert before.keys() == after.keys()
    for key, fields in after.items():
        assert {field for field in EMPTY_FIELDS if fields[field] != before[key][field]} <= {"jobTitle"}, (
            before[key],
            fields,
        )


def test_remote_edit_between_listing_and_push_is_merged(server_synced: ServerSyncedAccount) -> None:
    server_synced.put("1.vcf", card("1", "Ada", "TEL;TYPE=HOME:1"))
    server_synced.sync()
    server_synced.edit(server_synced.person(), organization="Here")

    def first(request: Request) -> Reply | None:
        server_synced.put("1.vcf", card("1", "Ada", "TEL;TYPE=HOME:1", "NOTE:There"))
        return None

    server_synced.proxy.add(Fault(before=first, when=method("PUT"), times=1))
    run = server_synced.sync()
    assert (run.code, run.error_messages) == ("", [])
    assert not Conflict.objects.owned_by(server_synced.owner).exists()
    assert (server_synced.person().organization, server_synced.person().notes) == ("Here", "There")
    text = server_synced.text("1.vcf")
    assert "ORG:Here" in text
    assert "NOTE:There" in text
    server_synced.assert_in_sync()


def test_photo_is_synced_in_both_directions(server_synced: ServerSyncedAccount) -> None:
    def photo_line(color: str) -> str:
        return "PHOTO;ENCODING=b;TYPE=JPEG:" + base64.b64encode(picture(color=color)).decode()

    server_synced.put("1.vcf", card("1", "Ada", photo_line("red")))
    server_synced.sync()
    first = server_synced.person().photo
    assert first
    server_synced.edit(server_synced.person(), notes="mine")
    assert counts(server_synced.sync()) == {"updated_remotely": 1}
    server_synced.assert_in_sync()
    assert photo_of_person(server_synced) == picture(color="red")
    server_synced.put("1.vcf", card("1", "Ada", "NOTE:mine", photo_line("blue")))
    assert counts(server_synced.sync()) == {"updated_locally": 1}
    assert server_synced.person().photo not in {first, None}
    upload(server_synced.api, f"/api/people/{server_synced.person().pk}/photo", picture(color="green"))
    assert counts(server_synced.sync()) == {"updated_remotely": 1}
    assert photo_of_person(server_synced) not in {picture(color="blue"), b""}
    server_synced.assert_in_sync()
    server_synced.api.ok("DELETE", f"/api/people/{server_synced.person().pk}/photo")
    assert counts(server_synced.sync()) == {"updated_remotely": 1}
    assert photo_of_person(server_synced) == b""
    server_synced.assert_in_sync()
    assert server_synced.person().photo is None


def test_structured_values_are_read_back_from_a_server_that_escapes_them(server_synced: ServerSyncedAccount) -> None:
    """vobject, so Radicale, escapes each semicolon in a property that it does not know."""
    fields: list[dict[str, str | None]] = [
        {"key": "Size", "value": "42", "type": "shoe"},
        {"key": "Size", "value": "M", "type": None},
        {"key": "a;b", "value": "1;2;3", "type": None},
        {"key": "c", "value": "x;y", "type": "t;u"},
        {"key": "path\\", "value": "C:\\new\\", "type": None},
        {"key": "both\\;", "value": "\\;\\\\;", "type": "a,b"},
        {"key": "lines", "value": "one, two\nthree; four", "type": None},
    ]
    server_synced.sync()
    person = server_synced.create(
        name="Ada",
        gender="F;other",
        customFields=fields,
        imHandles=[{"type": "home", "protocol": "a;b", "handle": "x;y,z"}],
        locations=[{"type": "home", "latitude": 1.5, "longitude": -2.25, "label": 'at; home, "here"'}],
        urls=[{"type": "home", "url": "http://a.example/?x;y"}],
        secondLastName="x;y",
        organization="A;B",
        phoneticName="n;m,o",
    )
    server_synced.sync()
    here = load_local_contacts(server_synced.owner, [person.pk])[person.pk].fields
    there = remote_fields(read_card(server_synced.card_of(person))[0])
    differing = {name: (here[name], there[name]) for name in EMPTY_FIELDS if here[name] != there[name]}
    assert differing == {}
    server_synced.assert_in_sync()
    server_synced.edit(person, customFields=[*fields[:-1], {**fields[-1], "value": "five; six"}], notes="n")
    assert counts(server_synced.sync()) == {"updated_remotely": 1}
    server_synced.assert_in_sync()
    edited = read_card(server_synced.card_of(person))[0].custom_fields
    assert ([field["value"] for field in edited][-1], len(edited)) == ("five; six", len(fields))


def test_structured_values_of_others_are_read_where_a_server_escaped_them(server_synced: ServerSyncedAccount) -> None:
    lines = (
        *("GENDER:F;woman", "X-CUSTOM-FIELD:Size;42;shoe", "GEO:geo:1.5\\,2.5"),
        *("X-ANDROID-CUSTOM:vnd.android.cursor.item/nickname;Lovelace;1;;;;;;;;;;;;;",),
        "X-ANDROID-CUSTOM:vnd.android.cursor.item/contact_event;2015-12-10;0;Graduation;;;;;;;;;;;;",
    )
    server_synced.put("1.vcf", card("1", "Ada", *lines))
    server_synced.sync()
    person = server_synced.person()
    assert (person.gender, person.nickname) == ("woman", "Lovelace")
    assert [(field["key"], field["value"], field["type"]) for field in person.custom_fields] == [("Size", "42", "shoe")]
    assert [place["longitude"] for place in person.locations] == [2.5]
    [day] = ImportantDate.objects.owned_by(server_synced.owner).active()
    assert (day.title, str(day.date)) == ("Graduation", "2015-12-10")
    custom = [{"key": "Size", "value": "43", "type": "shoe"}]
    server_synced.edit(person, gender="other; x", nickname="Countess", customFields=custom)
    assert counts(server_synced.sync()) == {"updated_remotely": 1}
    server_synced.assert_in_sync()
    there = read_card(server_synced.text("1.vcf"))[0]
    assert (there.gender, there.nickname) == ("other; x", "Countess")
    assert [dict(field) for field in there.custom_fields] == custom
    assert [(day.title, str(day.date)) for day in there.important_dates] == [("Graduation", "2015-12-10")]


@pytest.mark.parametrize(
    ("name", "full", "renamed"),
    [
        ("Nagy;Ada;;;", "Nagy Ada", "Kiss Ada"),
        ("Nagy;Ada;;;", "Nagy\\, Ada", "Kiss\\, Ada"),
        ("Nagy;Ada;Béla;Dr.;", "NAGY Ada Béla", "KISS Ada Béla"),
    ],
)
def test_a_full_name_in_its_own_order_follows_the_name_alone(
    server_synced: ServerSyncedAccount, name: str, full: str, renamed: str
) -> None:
    server_synced.put("1.vcf", card("1", full, "TEL:1").replace(f"N:;{full};;;", f"N:{name}"))
    server_synced.sync()
    person = server_synced.person()
    assert (person.surname, person.display_name_override) == ("Nagy", None)
    server_synced.assert_in_sync()
    server_synced.edit(person, notes="n")
    assert counts(server_synced.sync()) == {"updated_remotely": 1}
    server_synced.assert_in_sync()
    assert f"FN:{full}\r\n" in server_synced.text("1.vcf")
    # A format of the connection is for names that were made here.
    server_synced.api.ok("PUT", "/api/carddav/connection", {"cardDavNameFormat": "FIRST_LAST"})
    for _ in range(2):
        assert counts(server_synced.sync()) == {}
    assert f"FN:{full}\r\n" in server_synced.text("1.vcf")
    server_synced.edit(person, surname="Kiss")
    assert counts(server_synced.sync()) == {"updated_remotely": 1}
    server_synced.assert_in_sync()
    assert f"FN:{renamed}\r\n" in server_synced.text("1.vcf")
    # Another program changes N and FN, each in its own order.
    server_synced.put("1.vcf", server_synced.text("1.vcf").replace("Kiss", "Papp").replace("KISS", "PAPP"))
    assert counts(server_synced.sync()) == {"updated_locally": 1}
    server_synced.assert_in_sync()
    person.refresh_from_db()
    assert (person.surname, person.display_name_override) == ("Papp", None)


def test_a_display_name_of_before_is_not_taken_by_a_sync(server_synced: ServerSyncedAccount) -> None:
    """Where the FN of a name in its own order was stored as displayNameOverride, it stays until somebody empties it."""
    server_synced.put("1.vcf", card("1", "Nagy Ada", "TEL:1").replace(";Nagy Ada;", "Nagy;Ada;"))
    server_synced.sync()
    person, mapping = server_synced.person(), Mapping.objects.owned_by(server_synced.owner).get()
    with account_write(server_synced.owner):
        person.display_name_override = "Nagy Ada"
        person.save(update_fields=["display_name_override"])
    for bases in (mapping.base_local, mapping.base_remote):
        bases["displayNameOverride"] = "Nagy Ada"
    mapping.base_local["fn"] = "Nagy Ada"
    mapping.save()
    server_synced.sync()
    server_synced.put("1.vcf", server_synced.text("1.vcf").replace("TEL:1", "TEL:2"))
    assert counts(server_synced.sync()) == {"updated_locally": 1}
    server_synced.edit(person, notes="n")
    assert counts(server_synced.sync()) == {"updated_remotely": 1}
    server_synced.assert_in_sync()
    assert "FN:Nagy Ada\r\n" in server_synced.text("1.vcf")
    person.refresh_from_db()
    assert (person.display_name_override, person.phone_numbers[0]["number"]) == ("Nagy Ada", "2")


def test_no_copy_of_a_former_address_stays_on_the_server(server_synced: ServerSyncedAccount) -> None:
    lines = (
        *('item1.ADR;TYPE=HOME;LABEL="Old Street 1":;;Old Street 1;Oldtown;;1;Germany', "item1.X-ABADR:de"),
        *("LABEL;TYPE=HOME:Old Street 1\\nOldtown", "SORT-STRING:Old"),
        *("ADR;TYPE=WORK:;;Work Street 2;;;;;Work Street 2", "LABEL;TYPE=WORK:Work Street 2"),
    )
    server_synced.put("1.vcf", card("1", "Ada Old", *lines).replace(";Ada Old;", "Old;Ada;"))
    server_synced.sync()
    person = server_synced.person()
    new = {"streetLine1": "New Street 3", "locality": "Newtown", "country": "Austria"}
    addresses = [{**person.addresses[0], **new}, *person.addresses[1:]]
    server_synced.edit(person, addresses=addresses, surname="New")
    assert counts(server_synced.sync()) == {"updated_remotely": 1}
    server_synced.assert_in_sync()
    text = server_synced.text("1.vcf")
    assert "Old" not in text
    assert text.count("LABEL;TYPE=WORK:Work Street 2") == 1
    assert "X-ABADR:at" in text
    person.refresh_from_db()
    assert [entry["value"] for entry in person.more if entry["name"] == "LABEL"] == ["Work Street 2"]


def photo_of_person(server_synced: ServerSyncedAccount) -> bytes:
    text = re.sub(r"\r?\n[ \t]", "", server_synced.text("1.vcf"))
    found = re.search(r"^PHOTO[^:]*:(.*?)\s*$", text, re.MULTILINE)
    return base64.b64decode(found[1]) if found else b""


def test_book_is_found_from_any_url_of_the_server(server_synced: ServerSyncedAccount) -> None:
    def found_from(url: str) -> set[str]:
        with open_session(Login(url, USER, PASSWORD)) as session:
            return {href_key(book.url).rstrip("/") for book in discover(session).books}

    root = server_synced.proxy.url.rstrip("/")
    home = root + server_synced.path.rstrip("/").rpartition("/")[0] + "/"
    with open_session(Login(root + server_synced.path, USER, PASSWORD)) as session:
        principal = discover(session).principal_url
    starts = [
        root + server_synced.path,
        root + quote(server_synced.path.rstrip("/")),
        home,
        home.rstrip("/"),
        f"{root}/",
        root,
    ]
    for start in [*starts, *filter(None, [principal])]:
        assert server_synced.path.rstrip("/") in found_from(start), start
