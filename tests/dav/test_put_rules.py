"""How the card of a PUT is read: what is no change, what is removed, what stays."""

from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.errors import MissingError
from dav.models import BookCard, GivenCard, ReplacedValue
from dav.models import Device as DeviceRow
from dav.services.history import restore_replaced
from people.models import Person
from tests.builders import set_plan_limits
from tests.client import client_of
from tests.dav.devices import Device, card, person_of
from tests.dav.rich import RICH

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_suffices]

# What programs only write in another way (open points, section 14; dav-clients, section 4).
RESPELLINGS: dict[str, tuple[str, str]] = {
    "letter case of names and groups": ("item1.X-ABLabel:Lighthouse", "ITEM1.X-ABLABEL:Lighthouse"),
    "order of parameters": ("X-SERVICE-TYPE=Skype;TYPE=HOME", "TYPE=HOME;X-SERVICE-TYPE=Skype"),
    "TYPE in a list": ("TEL;TYPE=CELL;TYPE=VOICE:", "TEL;TYPE=CELL,VOICE:"),
    "TYPE in quotes": ("TEL;TYPE=CELL;TYPE=VOICE:", 'TEL;TYPE="CELL,VOICE":'),
    "TYPE in small letters": ("EMAIL;TYPE=HOME:", "EMAIL;type=INTERNET;type=home:"),
    "no pref": ("TEL;TYPE=HOME;TYPE=PREF:", "TEL;TYPE=HOME:"),
    "number spelling": ("+44 20 7946 0001", "+44 (20) 79460001"),
    "item numbers": (
        "item2.EMAIL;TYPE=INTERNET:ada@cottage.example\r\nitem2.X-ABLabel",
        "item9.EMAIL:ada@cottage.example\r\nitem9.X-ABLabel",
    ),
    "1604 for no year": ("BDAY;X-APPLE-OMIT-YEAR=1604:1604-12-10", "BDAY;value=date:1604-12-10"),
    "4.0 for no year": ("BDAY;X-APPLE-OMIT-YEAR=1604:1604-12-10", "BDAY;VALUE=DATE:--12-10"),
    "basic date for no year": ("BDAY;X-APPLE-OMIT-YEAR=1604:1604-12-10", "BDAY:--1210"),
    "RFC 6868": ('LABEL="1 Square\\nLondon"', "LABEL=1 Square^nLondon"),
    "a backslash more": ("with \\; and", "with \\\\; and"),
    "a bare semicolon": ("with \\; and", "with ; and"),
    "VALUE=DATE": ("item6.X-ABDATE:", "item6.X-ABDATE;VALUE=DATE:"),
    "a parameter of Evolution": ("TEL;TYPE=CELL;TYPE=VOICE:", 'TEL;X-EVOLUTION-E164=2079460001,"+44";TYPE=CELL,VOICE:'),
    "an address in a group": ("ADR;TYPE=HOME;LABEL=", "item8.X-ABADR:gb\r\nitem8.ADR;TYPE=HOME;LABEL="),
    "ORG with a semicolon at its end": ("ORG:Analytical Society;Engines", "ORG:Analytical Society;Engines;"),
    "FN from N": ("FN:Dr. Ada Lovelace", "FN:Dr. Ada King Lovelace PhD"),
    "no LABEL": (';LABEL="1 Square\\nLondon"', ""),
    "another PRODID and REV": ("PRODID:-//Example//Server 1.0//EN", "PRODID:-//Apple Inc.//iOS 18//EN"),
    "line ends": ("\r\n", "\n"),
    "a date as X-ABDATE": (
        "ANNIVERSARY:20100708\r\nX-ANNIVERSARY:2010-07-08",
        "item7.X-ABDATE;type=pref:2010-07-08\r\nitem7.X-ABLabel:_$!<Anniversary>!$_\r\nX-ANNIVERSARY:2010-07-08",
    ),
    "a date as X-ABDATE with a plain label": (
        "ANNIVERSARY:20100708\r\nX-ANNIVERSARY:2010-07-08",
        "item7.X-ABDATE:2010-07-08\r\nitem7.X-ABLabel:Anniversary",
    ),
}


@pytest.mark.parametrize("name", RESPELLINGS)
def test_a_respelling_is_no_change(alice: User, name: str) -> None:
    old, new = RESPELLINGS[name]
    assert old in RICH
    first, device = Device(alice), Device(alice)
    etag = first.put("u-rich-1.vcf", RICH)["ETag"]
    before = person_of(alice)
    text = device.text("u-rich-1.vcf")
    assert text == RICH
    # The device has written every property before.
    device.put("other.vcf", RICH.replace("u-rich-1", "u-2").replace("Ada", "Bob"))
    api = client_of(alice)
    other = next(person for person in api.ok("GET", "/api/people")["people"] if person["name"] == "Bob")
    api.ok("DELETE", f"/api/people/{other['id']}")
    assert device.put("u-rich-1.vcf", RICH.replace(old, new)).status_code == 204
    after = person_of(alice)
    assert {key: after[key] for key in before} == before
    assert first.get("u-rich-1.vcf")["ETag"] == etag  # nobody else reads it again
    assert not ReplacedValue.objects.owned_by(alice).exists()


def test_a_value_missing_beside_others_of_its_name_is_removed(alice: User) -> None:
    first, device = Device(alice), Device(alice)
    first.put("a.vcf", card("URL:https://a.example", "URL:https://b.example", "X-A:1", "X-A:2", "X-B:3"))
    device.text("a.vcf")
    assert device.put("a.vcf", card("URL:https://b.example", "X-A:2")).status_code == 204
    assert [entry["url"] for entry in person_of(alice)["urls"]] == ["https://b.example"]
    text = first.text("a.vcf")
    assert ("X-A:2\r\n" in text, "X-A:1\r\n" in text, "X-B:3\r\n" in text) == (True, False, True)


def test_what_a_device_removed_or_replaced_is_kept(alice: User) -> None:
    device = Device(alice)
    device.put(
        "a.vcf",
        card("TEL;TYPE=CELL:+44 20 1", "NOTE:Old note", "CATEGORIES:Engines", "BDAY:1815-12-10", "X-COLOR:blue"),
    )
    person_id = person_of(alice)["id"]
    api = client_of(alice)
    changed = card("NOTE:New note", "EMAIL:ada@example.org", "BDAY:1815-12-11")
    assert device.put("a.vcf", changed).status_code == 204
    lost = {row.property: row.value for row in ReplacedValue.objects.owned_by(alice)}
    assert set(lost) == {"phoneNumbers", "notes", "groups", "importantDates", "X-COLOR"}
    assert (lost["notes"], lost["groups"], lost["X-COLOR"]) == ("Old note", "Engines", "X-COLOR:blue")
    assert lost["phoneNumbers"]["number"] == "+44 20 1"
    assert api.ok("GET", f"/api/people/{person_id}")["person"]["notes"] == "New note"


@pytest.mark.both_databases
def test_values_are_brought_back_one_by_one(alice: User, mallory: User) -> None:
    device = Device(alice)
    device.put(
        "a.vcf", card("TEL;TYPE=CELL:+44 20 1", "NOTE:Old", "CATEGORIES:Engines", "BDAY:1815-12-10", "X-COLOR:blue")
    )
    before = person_of(alice)
    device.put("a.vcf", card("NOTE:New"))
    rows = list(ReplacedValue.objects.owned_by(alice))
    with pytest.raises(MissingError):
        restore_replaced(owner=mallory, token_id=rows[0].token_id, replaced_id=rows[0].pk, now=timezone.now())
    for row in rows:
        restore_replaced(owner=alice, token_id=row.token_id, replaced_id=row.pk, now=timezone.now())
    after = person_of(alice)
    assert after["notes"] == "Old"
    assert [n["number"] for n in after["phoneNumbers"]] == [n["number"] for n in before["phoneNumbers"]]
    assert [d["date"] for d in after["importantDates"]] == [d["date"] for d in before["importantDates"]]
    assert [g["name"] for g in after["groups"]] == ["Engines"]
    assert "X-COLOR:blue\r\n" in device.text("a.vcf")
    assert not ReplacedValue.objects.owned_by(alice).exists()


@pytest.mark.both_databases
def test_dates_keep_their_ids_and_reminders(alice: User) -> None:
    device = Device(alice)
    device.put("a.vcf", card("BDAY:1815-12-10"))
    person = person_of(alice)
    (date,) = person["importantDates"]
    api = client_of(alice)
    api.ok(
        "PUT", f"/api/people/{person['id']}/important-dates/{date['id']}", {**_editable(date), "reminderEnabled": True}
    )
    device.text("a.vcf")
    assert device.put("a.vcf", card("BDAY:1815-12-11", "ANNIVERSARY:1835-07-08")).status_code == 204
    days = {day["type"]: day for day in person_of(alice)["importantDates"]}
    birthday = next(day for day in days.values() if day["id"] == date["id"])
    assert (birthday["date"][:10], birthday["reminderEnabled"]) == ("1815-12-11", True)


def _editable(date: dict[str, Any]) -> dict[str, Any]:
    return {key: date[key] for key in ("type", "title", "date", "yearUnknown") if key in date}


@pytest.mark.both_databases
def test_what_others_wrote_since_stays_and_in_one_field_the_device_counts(alice: User) -> None:
    device, api = Device(alice), client_of(alice)
    device.put("a.vcf", card("TEL;TYPE=CELL:+44 20 1", "NOTE:one", "TITLE:Analyst"))
    person_id = person_of(alice)["id"]
    api.ok("PUT", f"/api/people/{person_id}", {"notes": "theirs", "jobTitle": "Engineer", "nickname": "Countess"})
    assert device.put("a.vcf", card("TEL;TYPE=CELL:+44 20 2", "NOTE:mine", "TITLE:Analyst")).status_code == 204
    person = person_of(alice)
    assert (person["notes"], person["jobTitle"], person["nickname"]) == ("mine", "Engineer", "Countess")
    assert [entry["number"] for entry in person["phoneNumbers"]] == ["+44 20 2"]
    assert {row.value for row in ReplacedValue.objects.owned_by(alice).filter(property="notes")} == {"theirs"}


@pytest.mark.parametrize(
    ("content_type", "text"),
    [
        ("text/vcard", card("NOTE:Grüße")),
        ("text/vcard; charset=utf-8", card("NOTE:Grüße")),
        ("text/vcard;version=4.0", card("NOTE:Grüße").replace("3.0", "4.0")),
        ("text/x-vcard", card("NOTE:Grüße")),
        ("text/directory", card("NOTE:Grüße")),
        ("Text/VCard; Charset=ISO-8859-1", card("NOTE:Grüße").encode("latin-1")),
        ("text/x-vcard", card("NOTE;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:Gr=C3=BC=C3=9Fe").replace("3.0", "2.1")),
    ],
)
def test_content_types_charsets_and_versions(alice: User, content_type: str, text: str | bytes) -> None:
    device = Device(alice)
    assert device.put("a.vcf", text, content_type=content_type).status_code == 201
    assert person_of(alice)["notes"] == "Grüße"
    assert "VERSION:3.0\r\n" in device.text("a.vcf")
    assert "VERSION:4.0\r\n" in device.text("a.vcf", HTTP_ACCEPT="text/vcard;version=4.0")


def test_other_content_types_are_refused(alice: User) -> None:
    refused = Device(alice).put("a.vcf", card(), content_type="text/calendar")
    assert (refused.status_code, b"supported-address-data" in refused.content) == (403, True)


def test_a_card_without_uid_is_named_after_its_path(alice: User) -> None:
    device = Device(alice)
    text = card("NOTE:one").replace("UID:u-1\r\n", "")
    made = device.put("my card.vcf", text)
    assert (made.status_code, "ETag" in made) == (201, False)
    assert person_of(alice)["uid"] == "my card"
    assert "UID:my card\r\n" in device.text("my card.vcf")
    assert device.put("my card.vcf", text.replace("one", "two")).status_code == 204
    assert (person_of(alice)["uid"], person_of(alice)["notes"]) == ("my card", "two")
    person = card("NOTE:one").replace("UID:u-1\r\n", "")
    by_id = client_of(alice).ok("POST", "/api/people", {"name": "Bob"}, status=201)["person"]
    device.text(f"{by_id['id']}.vcf")
    assert device.put(f"{by_id['id']}.vcf", person.replace("Ada", "Bob")).status_code == 204


def test_a_uid_with_and_without_its_scheme_is_one(alice: User) -> None:
    device = Device(alice)
    uid = "7A0E7F3E-1111-4111-8111-111111111111"
    device.put("a.vcf", card().replace("u-1", uid))
    for spelled in (f"urn:uuid:{uid}", uid.lower()):
        assert device.put("a.vcf", card(f"NOTE:{spelled}").replace("u-1", spelled)).status_code == 204
        assert person_of(alice)["uid"] == uid
        assert device.put("b.vcf", card().replace("u-1", spelled)).status_code == 409


def test_a_foreign_uid_with_equal_content_is_the_same_person(alice: User) -> None:
    first, device = Device(alice), Device(alice)
    lines = ("TEL;TYPE=CELL:+44 20 7946 0001", "EMAIL:ada@example.org", "NOTE:one")
    first.put("a.vcf", card(*lines))
    before = person_of(alice)
    start = first.sync()
    made = device.put("b.vcf", card(lines[1], lines[0].replace(" ", ""), lines[2]).replace("u-1", "u-2"))
    assert made.status_code == 201
    after = person_of(alice)
    assert (after["id"], after["uid"]) == (before["id"], "u-2")
    changed = first.sync(start.token).entries
    assert {href.rpartition("/")[2]: entry.status for href, entry in changed.items()} == {"a.vcf": 404, "b.vcf": 200}
    assert "UID:u-2\r\n" in first.text("b.vcf")
    assert device.put("c.vcf", card(*lines, "TITLE:Other").replace("u-1", "u-3")).status_code == 201
    assert Person.objects.owned_by(alice).count() == 2


def test_coming_again_from_the_trash_writes_what_the_card_says(alice: User) -> None:
    first, device, api = Device(alice), Device(alice), client_of(alice)
    first.put("a.vcf", card("NOTE:one", "X-COLOR:blue"))
    person_id = person_of(alice)["id"]
    api.ok("PUT", f"/api/people/{person_id}", {"contactReminderEnabled": True})
    api.ok("DELETE", f"/api/people/{person_id}")
    made = device.put("new.vcf", card("NOTE:two", "EMAIL:ada@example.org"), HTTP_IF_NONE_MATCH="*")
    assert made.status_code == 201
    person = person_of(alice)
    assert (person["id"], person["notes"], person["contactReminderEnabled"]) == (person_id, "two", True)
    assert [entry["email"] for entry in person["emails"]] == ["ada@example.org"]
    assert "X-COLOR:blue\r\n" in first.text("new.vcf")
    assert first.get("a.vcf").status_code == 404


def test_the_name_of_another_person_s_card_is_no_trap(alice: User) -> None:
    device, api = Device(alice), client_of(alice)
    bob = api.ok("POST", "/api/people", {"name": "Bob", "cardDavSyncEnabled": False}, status=201)["person"]["id"]
    assert device.put(f"{bob}.vcf", card("NOTE:one")).status_code == 201
    api.ok("PUT", f"/api/people/{bob}", {"cardDavSyncEnabled": True})
    listed = device.sync().entries
    assert len(listed) == 2
    texts = [device.text(href.rpartition("/")[2]) for href in listed]
    assert sorted("NOTE:one" in text for text in texts) == [False, True]
    assert device.put(f"{bob}.vcf", card("NOTE:two")).status_code == 204
    assert Person.objects.owned_by(alice).count() == 2


def test_the_plan_limits_people_in_words(alice: User, settings: Any) -> None:
    set_plan_limits(settings, people=1)
    device = Device(alice)
    device.put("a.vcf", card())
    refused = device.put("b.vcf", card().replace("u-1", "u-2").replace("Ada", "Bob"))
    assert refused.status_code == 507
    assert b"Your plan allows" in refused.content
    assert Person.objects.owned_by(alice).count() == 1


@pytest.mark.both_databases
def test_a_device_has_what_it_sent(alice: User) -> None:
    device = Device(alice)
    made = device.put("a.vcf", card())
    (given,) = GivenCard.objects.owned_by(alice)
    (row,) = BookCard.objects.owned_by(alice)
    assert (given.etag, f'"{row.etag}"') == (row.etag, made["ETag"])
    with_text = device.put("a.vcf", card("NOTE:one"), HTTP_IF_MATCH=made["ETag"])
    assert with_text["ETag"] == device.get("a.vcf")["ETag"]
    assert device.text("a.vcf") == card("NOTE:one")


def test_a_body_too_large_is_refused_with_its_element(alice: User) -> None:
    device = Device(alice)
    for size in (10 * 1024 * 1024 + 1, 12 * 1024 * 1024):
        refused = device.put("a.vcf", card("NOTE:" + "x" * size))
        assert (refused.status_code, b"max-resource-size" in refused.content) == (403, True), size
    assert not Person.objects.owned_by(alice).exists()


@pytest.mark.parametrize(
    "sent",
    [
        "item2.IMPP;X-SERVICE-TYPE=Jabber:xmpp:ada%40jabber%2Eexample\r\nitem2.X-ABLabel:Other",
        "IMPP;TYPE=HOME:xmpp:ada@jabber.example",
    ],
)
def test_entry_that_a_device_writes_as_another_property_stands_once(alice: User, sent: str) -> None:
    """SyncEvolution reads X-JABBER and writes IMPP: it has never sent X-JABBER, but its entry is there."""
    first, second = Device(alice), Device(alice)
    first.put("a.vcf", card("X-JABBER:ada@jabber.example", "X-MATRIX:@ada:example.org"))
    second.text("a.vcf")
    assert second.put("a.vcf", card(sent, "NOTE:changed")).status_code == 204
    for device in (first, second):
        text = device.text("a.vcf")
        assert text.upper().count("JABBER.EXAMPLE") == 1
        assert "@ada:example.org" in text
    handles = person_of(alice)["imHandles"]
    assert sorted((entry["protocol"], entry["handle"]) for entry in handles) == [
        ("jabber", "ada@jabber.example"),
        ("matrix", "@ada:example.org"),
    ]


def test_a_line_that_two_devices_change_is_there_twice(alice: User) -> None:
    """No field says that there is one X-ODD at most: neither device's text is lost."""
    first, second = Device(alice), Device(alice)
    first.put("a.vcf", card("X-ODD;P=1:one"))
    second.put("a.vcf", second.text("a.vcf").replace("one", "of the second"))
    assert first.put("a.vcf", card("X-ODD;P=1:of the first")).status_code == 204
    assert sorted(more["value"] for more in person_of(alice)["more"] if more["name"] == "X-ODD") == [
        "of the first",
        "of the second",
    ]


LABELLED = card(
    "item1.TEL;TYPE=CELL;X-SIM=1:+49 151 1111",
    "item1.X-ABLabel:mobile",
    "TEL;TYPE=WORK:+49 30 2222",
    "item2.EMAIL;TYPE=HOME;X-A=b:ada@example.org",
    "item2.X-ABLabel:Engine",
    "item3.ADR;TYPE=HOME:;;1 Square;London;;;",
    "item3.X-ABADR:gb",
    "item4.X-ABDATE:2010-07-08",
    "item4.X-ABLabel:First letter",
    "X-ODD;X-B=c:kept",
)
# What a program sends that knows neither labels nor parameters beyond TYPE.
PLAIN = card(
    "TEL;TYPE=CELL,VOICE:+491511111",
    "TEL;TYPE=WORK:+49 30 2222",
    "EMAIL;TYPE=INTERNET,HOME:ada@example.org",
    "ADR;TYPE=HOME:;;1 Square;London;;;",
    "X-ABDATE:2010-07-08",
    "X-ODD:kept",
)


def entries_of(person: Any) -> dict[str, list[tuple[str, str, str]]]:
    keys = {"phoneNumbers": "number", "emails": "email", "addresses": "streetLine1"}
    entries = {name: [(entry["id"], entry["type"], entry[key]) for entry in person[name]] for name, key in keys.items()}
    return entries | {"days": [(day["id"], day["title"], day["date"][:10]) for day in person["importantDates"]]}


@pytest.mark.parametrize("condition", [True, False])
def test_labels_and_parameters_that_a_device_never_sent_stay(alice: User, condition: bool) -> None:
    first, device = Device(alice), Device(alice)
    first.put("a.vcf", LABELLED)
    before, etag = entries_of(person_of(alice)), device.get("a.vcf")["ETag"]
    headers = {"HTTP_IF_MATCH": etag} if condition else {}
    assert device.put("a.vcf", PLAIN, **headers).status_code == 204
    assert entries_of(person_of(alice)) == before
    assert first.get("a.vcf")["ETag"] == etag  # nobody else reads it again
    assert device.put("a.vcf", PLAIN.replace("X-ODD", "NOTE:new\r\nX-ODD"), **headers).status_code == 204
    assert entries_of(person_of(alice)) == before
    text = first.text("a.vcf")
    assert "NOTE:new" in text
    for kept in ("X-SIM=1", "X-A=b", "X-B=c"):
        assert text.count(kept) == 1
    for kept in ("X-ABLabel:mobile", "X-ABLabel:Engine", "X-ABADR:gb", "X-ABLabel:First letter"):
        group = next(line for line in text.splitlines() if line.endswith(f".{kept}")).partition(".")[0]
        assert sum(line.startswith(f"{group}.") for line in text.splitlines()) == 2


def test_an_edited_value_keeps_its_id_its_label_and_its_parameters(alice: User) -> None:
    first, device = Device(alice), Device(alice)
    first.put("a.vcf", LABELLED)
    device.text("a.vcf")
    before = entries_of(person_of(alice))
    edited = PLAIN.replace("+491511111", "+49 151 3333").replace("ada@", "countess@").replace("1 Square", "2 Square")
    assert device.put("a.vcf", edited).status_code == 204
    after = entries_of(person_of(alice))
    changes = {"+49 151 1111": "+49 151 3333", "ada@example.org": "countess@example.org", "1 Square": "2 Square"}
    assert after == {
        name: [(key, kind, changes.get(value, value)) for key, kind, value in entries]
        for name, entries in before.items()
    }
    text = first.text("a.vcf")
    assert "X-SIM=1:+49 151 3333" in text
    assert "X-A=b:countess@example.org" in text


def test_what_a_device_has_sent_it_takes_away(alice: User) -> None:
    first, device = Device(alice), Device(alice)
    first.put("a.vcf", LABELLED)
    known = card("item1.TEL;X-SIM=2:+1 555 0000", "item1.X-ABLabel:Car", "X-ODD;X-B=d:other")
    device.put("b.vcf", known.replace("u-1", "u-2").replace("Ada", "Bob"))
    device.text("a.vcf")
    assert device.put("a.vcf", PLAIN.replace("X-ODD", "NOTE:new\r\nX-ODD")).status_code == 204
    api = client_of(alice)
    ada = next(person for person in api.ok("GET", "/api/people")["people"] if person["name"] == "Ada")
    person = api.ok("GET", f"/api/people/{ada['id']}")["person"]
    assert [entry["type"] for entry in person["phoneNumbers"]] == ["cell", "work"]
    text = first.text("a.vcf")
    assert "X-A=b" in text, "never sent"
    for gone in ("X-SIM", "X-B", "mobile", "Engine"):
        assert gone not in text


def test_a_kind_that_a_device_changes_is_not_hidden_by_a_label(alice: User) -> None:
    first, device = Device(alice), Device(alice)
    first.put("a.vcf", LABELLED)
    device.text("a.vcf")
    number = person_of(alice)["phoneNumbers"][0]
    assert device.put("a.vcf", PLAIN.replace("CELL,VOICE", "HOME,VOICE")).status_code == 204
    assert (number["type"], person_of(alice)["phoneNumbers"][0]["type"]) == ("mobile", "home")
    assert "X-SIM=1:" in first.text("a.vcf")


def test_a_label_that_another_device_changed_meanwhile_stays(alice: User) -> None:
    first, device = Device(alice), Device(alice)
    first.put("a.vcf", LABELLED)
    device.text("a.vcf")
    first.text("a.vcf")
    newer = LABELLED.replace("Label:mobile", "Label:boat").replace("X-SIM=1", "X-SIM=2")
    assert first.put("a.vcf", newer.replace("X-ODD", "TITLE:Countess\r\nX-ODD")).status_code == 204
    assert device.put("a.vcf", PLAIN.replace("X-ODD", "NOTE:new\r\nX-ODD")).status_code == 204
    person, text = person_of(alice), first.text("a.vcf")
    assert [entry["type"] for entry in person["phoneNumbers"]] == ["boat", "work"]
    assert ("X-SIM=2" in text, "X-SIM=1" in text, "NOTE:new" in text) == (True, False, True)


def test_what_is_remembered_of_names_is_bounded(alice: User) -> None:
    device = Device(alice)
    names = "".join(f";X-P{number}=1" for number in range(150))
    lines = [f"X-N{number}{names if number < 20 else ''}:1" for number in range(200)]
    assert device.put("a.vcf", card(*lines, f"X-{'N' * 200}:1", "TEL:1")).status_code == 201
    (row,) = DeviceRow.objects.owned_by(alice)
    assert len(row.sent_properties) == 1000
    assert max(map(len, row.sent_properties)) <= 100


def test_of_a_removed_number_nothing_stays(alice: User) -> None:
    first, device = Device(alice), Device(alice)
    first.put("a.vcf", LABELLED)
    device.text("a.vcf")
    assert device.put("a.vcf", PLAIN.replace("TEL;TYPE=CELL,VOICE:+491511111\r\n", "")).status_code == 204
    assert [entry["type"] for entry in person_of(alice)["phoneNumbers"]] == ["work"]
    text = first.text("a.vcf")
    assert ("X-SIM" in text, "mobile" in text) == (False, False)
