"""The parser: single properties, broken cards, and the peculiarities of other programs."""

import base64
import datetime as dt
from typing import Any

import pytest

from people.vcard import CardDate, read_cards
from tests.people.vcard.lines import card_text, read_card, read_result, unmapped_lines

JPEG = b"\xff\xd8\xff\xe0" + bytes(range(200))


def test_the_parts_of_a_name() -> None:
    card = read_card("N:Lovelace;Ada;Augusta,King;Lady;PhD,FRS", "FN:Lady Ada Augusta King Lovelace PhD, FRS")
    assert (card.name, card.surname, card.middle_name) == ("Ada", "Lovelace", "Augusta King")
    assert (card.prefix, card.suffix, card.display_name) == ("Lady", "PhD, FRS", None)


@pytest.mark.parametrize("full", ["Lady Ada Augusta Lovelace", "Ada  Lovelace", "Al Lovelace", "Al"])
def test_fn_that_follows_from_the_name_is_not_a_display_name(full: str) -> None:
    assert read_card("N:Lovelace;Ada;Augusta;Lady;", "NICKNAME:Al", f"FN:{full}").display_name is None


@pytest.mark.parametrize("full", ["Mum", "Lovelace, Mum", "Lovelace", "Ada", "AdaLovelace", "Ada ❤ Lovelace"])
def test_fn_that_does_not_follow_from_the_name_is_the_display_name(full: str) -> None:
    assert read_card("N:Lovelace;Ada;Augusta;Lady;", "NICKNAME:Al", f"FN:{full}").display_name == full


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        (["FN:Ada Lovelace"], "Ada Lovelace"),
        (["N:;;;;", "FN:Ada"], "Ada"),
        (["N:Lovelace;;;;"], "Lovelace"),
        (["N:Lovelace;;;;", "FN:Lovelace"], "Lovelace"),
        (["N:;;Augusta;;"], "Augusta"),
        (["N:;;;Dr.;", "ORG:ACME"], "ACME"),
        (["ORG:ACME;Sales", "NICKNAME:Al"], "ACME"),
        (["NICKNAME:Al", "EMAIL:a@b.org"], "Al"),
        (["TEL:1", "EMAIL:a@b.org"], "a@b.org"),
        (["TEL:+1 2"], "+1 2"),
        (["ADR:;;12 Long Road;London;;;"], "12 Long Road, London"),
        (["ADR:;;;;;;UK", "X-SKYPE:ada"], "UK"),
        (["X-SKYPE:ada"], "ada"),
    ],
)
def test_card_without_name_gets_another_property_as_name(lines: list[str], name: str) -> None:
    assert read_card(*lines).name == name


def test_surname_alone_is_not_repeated() -> None:
    card = read_card("N:Lovelace;;;Lady;", "FN:Lady Lovelace")
    assert (card.name, card.surname, card.prefix, card.display_name) == ("Lovelace", None, "Lady", None)


def test_card_without_anything_usable_as_name_is_an_error() -> None:
    result = read_result("NOTE:?")
    assert result.card is None
    assert "no name" in str(result.error)


def test_the_second_surname_of_rfc_9554() -> None:
    card = read_card("N:Gómez,Pérez;Ana;;;;Pérez;", "FN:Ana Gómez Pérez", version="4.0")
    assert (card.surname, card.second_last_name) == ("Gómez", "Pérez")


def test_departments_become_a_custom_field() -> None:
    card = read_card("FN:Ada", "ORG:ACME;R&D;Lab\\; 2")
    assert card.organization == "ACME"
    assert card.custom_fields == ({"key": "Department", "value": "R&D; Lab; 2", "type": None},)


def test_further_nicknames_titles_and_organizations_are_kept_verbatim() -> None:
    card = read_card("FN:Ada", "NICKNAME:Al,Countess", "TITLE:A", "TITLE;X=1:B", "ORG:C", "ORG:D")
    assert (card.nickname, card.job_title, card.organization) == ("Al", "A", "C")
    assert unmapped_lines(card) == ("TITLE;X=1:B", "ORG:D")


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("TEL:1", "other"),
        ("TEL;TYPE=VOICE:1", "other"),
        ("TEL;TYPE=CELL;TYPE=VOICE;TYPE=pref:1", "cell"),
        ("TEL;TYPE=FAX,WORK:1", "work fax"),
        ('TEL;TYPE="work,cell":1', "work cell"),
        ("tel;type=home:1", "home"),
        ("TEL;TYPE=VOICE\\,CELL:1", "cell"),
        ("TEL;TYPE=HOME\\,CELL;TYPE=PREF:1", "home cell"),
        ('TEL;TYPE="WORK\\,FAX":1', "work fax"),
    ],
)
def test_types_of_phone_numbers(line: str, kind: str) -> None:
    assert read_card("FN:Ada", line).phone_numbers == ({"type": kind, "number": "1"},)


def test_labels_of_item_groups() -> None:
    card = read_card(
        "FN:Ada",
        "item1.TEL;TYPE=CELL:1",
        "item1.X-ABLabel:Boat",
        "item2.URL:http\\://a.org",
        "item2.X-ABLabel:_$!<HomePage>!$_",
        "ITEM3.EMAIL:a@b.org",
        "item3.X-ABLABEL:Lab\\, old",
    )
    assert card.phone_numbers == ({"type": "Boat", "number": "1"},)
    assert card.urls == ({"type": "homepage", "url": "http://a.org"},)
    assert card.emails == ({"type": "Lab, old", "email": "a@b.org"},)
    assert unmapped_lines(card) == ()


def test_preferred_entries_come_first() -> None:
    card = read_card("FN:Ada", "TEL:1", "TEL;PREF=2:2", "TEL;PREF=1:3", "EMAIL:a@b.org", "EMAIL;TYPE=PREF:c@d.org")
    assert [entry["number"] for entry in card.phone_numbers] == ["3", "2", "1"]
    assert card.emails[0]["email"] == "c@d.org"


def test_telephone_uris() -> None:
    card = read_card("FN:Ada", "TEL;VALUE=uri;TYPE=work:tel:+1-418-656-9254;ext=102", version="4.0")
    assert card.phone_numbers == ({"type": "work", "number": "+1-418-656-9254 ext. 102"},)


def test_all_parts_of_addresses_are_read() -> None:
    card = read_card("FN:Ada", "ADR;TYPE=HOME:PO Box 7;Flat 2;12 Long Road\\nHouse B;London;Greater London;SW1;UK")
    assert card.addresses == (
        {
            "type": "home",
            "streetLine1": "12 Long Road",
            "streetLine2": "House B, Flat 2, PO Box 7",
            "locality": "London",
            "region": "Greater London",
            "country": "UK",
            "postalCode": "SW1",
        },
    )


@pytest.mark.parametrize(
    ("line", "entry"),
    [
        ("IMPP;X-SERVICE-TYPE=Skype;TYPE=HOME:skype:ada", ("home", "Skype", "ada")),
        ("IMPP:xmpp:ada%40b.org", ("other", "jabber", "ada@b.org")),
        ("IMPP:ada", ("other", "other", "ada")),
        ("X-JABBER;TYPE=WORK:ada@b.org", ("work", "jabber", "ada@b.org")),
        ("X-SKYPE-USERNAME:ada", ("other", "skype", "ada")),
    ],
)
def test_messengers(line: str, entry: tuple[str, str, str]) -> None:
    [handle] = read_card("FN:Ada", line).im_handles
    assert (handle["type"], handle["protocol"], handle["handle"]) == entry


@pytest.mark.parametrize("line", ["GEO:geo:48.2,-16.3;u=10", "GEO:48.2;-16.3", "GEO:48.2,-16.3"])
def test_places(line: str) -> None:
    assert read_card("FN:Ada", line).locations == (
        {"type": "other", "latitude": 48.2, "longitude": -16.3, "label": None},
    )


@pytest.mark.parametrize("value", ["geo:91,0", "geo:0,181", "48,2;16,3", "48,2; 16,3", "nan;1", "1_0;2", "here", "1"])
def test_invalid_coordinates_are_kept_verbatim(value: str) -> None:
    result = read_result("FN:Ada", f"GEO:{value}")
    assert result.card
    assert (result.card.locations, unmapped_lines(result.card)) == ((), (f"GEO:{value}",))
    assert result.warnings


@pytest.mark.parametrize(
    ("line", "day", "unknown"),
    [
        ("BDAY:1980-03-22", dt.date(1980, 3, 22), False),
        ("BDAY;VALUE=date:19800322", dt.date(1980, 3, 22), False),
        ("BDAY:1980-03-22T23:30:00-11:00", dt.date(1980, 3, 22), False),
        ("BDAY:--0415", dt.date(1604, 4, 15), True),
        ("BDAY:--04-15", dt.date(1604, 4, 15), True),
        ("BDAY:1604-04-15", dt.date(1604, 4, 15), True),
        ("BDAY;X-APPLE-OMIT-YEAR=1604:1604-04-15", dt.date(1604, 4, 15), True),
        ("BDAY;X-APPLE-OMIT-YEAR=1904:1904-04-15", dt.date(1604, 4, 15), True),
        ("BDAY:--0229", dt.date(1604, 2, 29), True),
        ("BDAY:1973-9-28", dt.date(1973, 9, 28), False),
        ("BDAY:1973/9/28", dt.date(1973, 9, 28), False),
        ("BDAY:1973.09.28", dt.date(1973, 9, 28), False),
        ("BDAY:1973. 9. 28.", dt.date(1973, 9, 28), False),
        ("BDAY:1973年9月28日", dt.date(1973, 9, 28), False),
        ("BDAY:1973년 9월 28일", dt.date(1973, 9, 28), False),
        ("BDAY:9月28日", dt.date(1604, 9, 28), True),
        ("BDAY:28.09.1973", dt.date(1973, 9, 28), False),
        ("BDAY:3. 4. 1973", dt.date(1973, 4, 3), False),
        ("BDAY:09.28.1973", dt.date(1973, 9, 28), False),
        ("BDAY:28.09.1973 00:00", dt.date(1973, 9, 28), False),
        ("BDAY:28.9.", dt.date(1604, 9, 28), True),
        ("BDAY:28/9/1973", dt.date(1973, 9, 28), False),
        ("BDAY:9/28/1973", dt.date(1973, 9, 28), False),
        ("BDAY:09-28-1973", dt.date(1973, 9, 28), False),
        ("BDAY:5/5/1973", dt.date(1973, 5, 5), False),
        ("BDAY:9/28", dt.date(1604, 9, 28), True),
        ("BDAY:--9-28", dt.date(1604, 9, 28), True),
        ("BDAY:1604-9-28", dt.date(1604, 9, 28), True),
        ("BDAY;X-APPLE-OMIT-YEAR=1904:1904-9-28", dt.date(1604, 9, 28), True),
        ("BDAY:19560411230000", dt.date(1956, 4, 11), False),
        ("BDAY:19560411230000Z", dt.date(1956, 4, 11), False),
        ("BDAY:195604112300", dt.date(1956, 4, 11), False),
        ("X-ANDROID-CUSTOM:vnd.android.cursor.item/contact_event;28.9.1973;3;;", dt.date(1973, 9, 28), False),
    ],
)
def test_birthdays_in_every_format(line: str, day: dt.date, unknown: bool) -> None:
    assert read_card("FN:Ada", line).important_dates == (CardDate(date=day, type="BIRTHDAY", year_unknown=unknown),)


@pytest.mark.parametrize(
    "value",
    [
        *("1979-02-30", "circa 1800", "1980-03", "0999-01-01", "٢٠٢٠-٠١-٠١", "1973", "28.09.73", "0000-00-00"),
        *("30.02.1973", "1973-28-09", "1973-9/28", "19731328230000", "1956041123", "28.09.1973.", "1/2/3/1973"),
    ],
)
def test_invalid_dates_are_kept_verbatim(value: str) -> None:
    result = read_result("FN:Ada", f"BDAY:{value}")
    assert result.card
    assert (result.card.important_dates, unmapped_lines(result.card)) == ((), (f"BDAY:{value}",))
    assert any("is no date" in str(warning) for warning in result.warnings)


def test_anniversaries_and_labelled_dates() -> None:
    card = read_card(
        "FN:Ada",
        "X-ANNIVERSARY:2001-02-03",
        "item1.X-ABDATE:1975-03-01",
        "item1.X-ABLabel:_$!<Anniversary>!$_",
        "item2.X-ABDATE;X-APPLE-OMIT-YEAR=1604:1604-09-12",
        "item2.X-ABLabel:Graduation",
        "X-ABDATE:2000-01-01",
    )
    assert card.anniversary == dt.date(2001, 2, 3)
    assert card.important_dates == (
        CardDate(date=dt.date(1975, 3, 1), type="ANNIVERSARY"),
        CardDate(date=dt.date(1604, 9, 12), title="Graduation", year_unknown=True),
        CardDate(date=dt.date(2000, 1, 1), title="Other"),
    )


def test_anniversary_without_year_is_one_important_date() -> None:
    card = read_card("FN:Ada", "ANNIVERSARY:--0203", "item1.X-ABDATE:--0203", "item1.X-ABLabel:_$!<Anniversary>!$_")
    assert card.anniversary is None
    assert card.important_dates == (CardDate(date=dt.date(1604, 2, 3), type="ANNIVERSARY", year_unknown=True),)


def test_second_birthday_becomes_a_titled_date() -> None:
    dates = read_card("FN:Ada", "BDAY:1980-01-02", "BDAY:1980-01-03").important_dates
    assert [(day.type, day.title) for day in dates] == [("BIRTHDAY", None), (None, "Birthday")]


def test_groups_notes_gender_uid() -> None:
    card = read_card(
        "FN:Ada",
        "CATEGORIES:Friends,Work\\, old",
        "CATEGORIES:friends,Chess",
        "NOTE:one\\ntwo",
        "NOTE:three",
        "GENDER:F;Grrrl",
        "UID:urn:uuid:1",
        version="4.0",
    )
    assert card.categories == ("Friends", "Work, old", "Chess")
    assert card.notes == "one\ntwo\n\nthree"
    assert (card.gender, card.uid) == ("Grrrl", "urn:uuid:1")
    assert read_card("FN:Ada", "GENDER:F", version="4.0").gender == "F"


@pytest.mark.parametrize(
    ("version", "lines"),
    [
        ("2.1", ["PHOTO;ENCODING=BASE64;TYPE=JPEG:", *("  " + p for p in ("%1", "%2", "%3")), ""]),
        ("2.1", ["PHOTO;JPEG;BASE64:%1", "%2", "%3", "", "NOTE:x"]),
        ("3.0", ["PHOTO;ENCODING=b;TYPE=JPEG:%1", " %2", " %3"]),
        ("3.0", ["PHOTO;TYPE=JPEG:%1%2%3"]),
        ("4.0", ["PHOTO:data:image/jpeg;base64,%1", " %2%3"]),
        ("4.0", ["PHOTO:data:image/jpeg;base64\\,%1%2%3"]),
    ],
)
def test_photos(version: str, lines: list[str]) -> None:
    packed = base64.b64encode(JPEG).decode()
    parts = {"%1": packed[:76], "%2": packed[76:152], "%3": packed[152:]}
    text = "\n".join(lines)
    for mark, part in parts.items():
        text = text.replace(mark, part)
    assert read_card("FN:Ada", *text.split("\n"), version=version).photo == JPEG


def test_photo_urls_and_further_photos_are_kept_verbatim() -> None:
    url, data = "PHOTO;VALUE=uri:http://a.org/b.jpg", "PHOTO:data:image/jpeg;base64,/9j/4AAQ"
    card = read_card("FN:Ada", url, data, data.replace("4AAQ", "4AAR"), version="4.0")
    assert card.photo == base64.b64decode("/9j/4AAQ")
    assert card.photo_url == "http://a.org/b.jpg"
    assert set(unmapped_lines(card)) == {url, data.replace("4AAQ", "4AAR")}


@pytest.mark.parametrize("value", ["A", "%%%%", "/9j/€", "====", "QQ==QQ=="])
def test_bad_base64_loses_only_the_photo(value: str) -> None:
    result = read_result("FN:Ada", f"PHOTO;ENCODING=b:{value}", "NOTE:kept")
    assert result.card
    assert (result.card.photo, result.card.notes) == (None, "kept")
    assert unmapped_lines(result.card) == (f"PHOTO;ENCODING=b:{value}",)
    assert "the photo is not valid base64; the line is kept as it is" in map(str, result.warnings)


def test_unknown_properties_are_kept_verbatim_with_their_labels() -> None:
    lines = (
        "ROLE:Analyst\\; first",
        'x-MyThing;Foo="a;b";BAR=c:d\\,e',
        "item1.X-ABRELATEDNAMES;type=pref:Jenny",
        "item1.X-ABLabel:_$!<Spouse>!$_",
        "item2.X-ABADR:gb",
    )
    assert unmapped_lines(read_card("FN:Ada", *lines)) == ("FN:Ada", *lines)[1:]


def test_agents_of_version_2_1_are_not_read_into_the_person() -> None:
    result = read_result(
        "FN:Ada", "AGENT:", "BEGIN:VCARD", "VERSION:2.1", "FN:Bob", "TEL:1", "END:VCARD", "TEL:2", version="2.1"
    )
    assert result.card
    assert (result.card.name, [e["number"] for e in result.card.phone_numbers]) == ("Ada", ["2"])
    assert unmapped_lines(result.card) == ("AGENT:BEGIN:VCARD\\nVERSION:2.1\\nFN:Bob\\nTEL:1\\nEND:VCARD",)


@pytest.mark.parametrize("prop", ["KIND:group", "X-ADDRESSBOOKSERVER-KIND:group"])
def test_group_cards(prop: str) -> None:
    card = read_card("FN:Family", prop, "MEMBER:urn:uuid:1", "X-ADDRESSBOOKSERVER-MEMBER:urn:uuid:2")
    assert card.is_group
    assert card.members == ("urn:uuid:1", "urn:uuid:2")


def test_too_long_values_are_cut_and_reported() -> None:
    result = read_result("FN:Ada", f"N:{'s' * 101};Ada;;;", f"NOTE:{'n' * 10_001}", f"TEL:{'1' * 51}", "EMAIL:not one")
    card = result.card
    assert card
    assert (len(card.surname or ""), len(card.notes or "")) == (100, 10_000)
    assert (card.phone_numbers, card.emails) == ((), ())
    assert [(entry["key"], entry["value"]) for entry in card.custom_fields] == [
        ("phone number", "1" * 51),
        ("e-mail address", "not one"),
    ]
    assert len(result.warnings) == 4


def test_a_long_fn_alone_is_kept_as_display_name() -> None:
    card = read_card("FN:" + "x" * 150)
    assert (len(card.name), len(card.display_name or "")) == (100, 150)


def test_more_than_a_hundred_entries_are_reported() -> None:
    result = read_result("FN:Ada", *(f"TEL:{n}" for n in range(150)))
    assert result.card
    assert len(result.card.phone_numbers) == 100
    assert len(result.warnings) == 1


def test_duplicate_messengers_of_apple_are_read_once() -> None:
    card = read_card(
        "FN:Ada", "X-AIM;type=HOME:ada", "IMPP;X-SERVICE-TYPE=AIM;type=HOME;type=pref:aim:ada", "X-ICQ:ada"
    )
    assert [(entry["protocol"], entry["handle"]) for entry in card.im_handles] == [("AIM", "ada"), ("icq", "ada")]


def test_custom_properties_of_android() -> None:
    custom = "X-ANDROID-CUSTOM:vnd.android.cursor.item/"
    card = read_card(
        "N:Lovelace;Ada;;;",
        "TEL;X-CUSTOM(CHARSET=UTF-8,ENCODING=QUOTED-PRINTABLE,=C3=84ltere):1",
        "TEL;X-Boat:2",
        f"{custom}nickname;Al;1;;;;;;;;;;;;;",
        f"{custom}contact_event;--12-10;3;;;;;;;;;;;;;",
        f"{custom}contact_event;2001-02-03;0;Graduation;;;;;;;;;;;;",
        f"{custom}relation;Annabella;8;;;;;;;;;;;;;",
        version="2.1",
    )
    assert [entry["type"] for entry in card.phone_numbers] == ["Ältere", "boat"]
    assert card.nickname == "Al"
    assert card.important_dates == (
        CardDate(date=dt.date(1604, 12, 10), type="BIRTHDAY", year_unknown=True),
        CardDate(date=dt.date(2001, 2, 3), title="Graduation"),
    )
    assert len(unmapped_lines(card)) == 1


def read_names(source: Any, **options: Any) -> list[str]:
    return [result.name or f"error: {result.error}" for result in read_cards(source, **options)]


def test_bad_card_does_not_stop_the_others() -> None:
    text = card_text("FN:A") + card_text("NOTE:?") + card_text("FN:B")
    results = list(read_cards(text))
    assert [(result.index, bool(result.card)) for result in results] == [(0, True), (1, False), (2, True)]


def test_truncated_last_card_is_read_and_reported() -> None:
    [result] = read_cards("BEGIN:VCARD\nVERSION:3.0\nFN:Ada\nTEL:12")
    assert result.card
    assert "no END" in str(result.warnings[0])


def test_a_card_without_end_ends_where_the_next_begins() -> None:
    results = list(read_cards("BEGIN:VCARD\nFN:A\nBEGIN:VCARD\nFN:B\nEND:VCARD\n"))
    assert [result.name for result in results] == ["A", "B"]
    assert results[0].warnings
    assert not results[1].warnings


def test_properties_outside_of_cards_are_reported_once_a_run() -> None:
    text = "VERSION:3.0\nFN:lost\nEND:VCARD\n\n" + card_text("FN:A") + "--\n"
    assert read_names(text) == ["error: text that belongs to no card (a BEGIN:VCARD line is missing)", "A"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp1252"])
def test_files_in_any_encoding(encoding: str) -> None:
    assert read_names((card_text("FN:Zoë Müller") * 3).encode(encoding)) == ["Zoë Müller"] * 3


def test_a_charset_of_the_file_and_of_a_line() -> None:
    assert read_names(card_text("FN:Ядвига").encode("koi8-r"), charset="koi8-r") == ["Ядвига"]
    assert read_names(card_text("FN;CHARSET=SHIFT_JIS:山田", version="2.1").encode("shift_jis")) == ["山田"]
    assert read_names(card_text("FN;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE:Jos=E9", version="2.1")) == ["José"]


@pytest.mark.parametrize("charset", ["no-such", "idna", "punycode", "rot13", "zlib", "unicode_escape", "", "utf-7"])
def test_unknown_charsets_are_ignored(charset: str) -> None:
    assert read_names(card_text(f"FN;CHARSET={charset};ENCODING=QUOTED-PRINTABLE:Jos=C3=A9", version="2.1")) == ["José"]


def test_a_fold_in_the_middle_of_a_character() -> None:
    text = card_text("FN:Zoë €uro").encode()
    for cut in range(text.index(b"FN:") + 4, text.index(b"\r\nEND")):
        assert read_names(text[:cut] + b"\r\n " + text[cut:]) == ["Zoë €uro"]


def test_surrogate_pairs_of_java() -> None:
    assert read_names(card_text("FN:Ada @").encode().replace(b"@", b"\xed\xa0\xbd\xed\xb8\x80")) == ["Ada 😀"]


def test_two_cards_with_one_uid_are_two_cards() -> None:
    assert len(list(read_cards(card_text("FN:A", "UID:1") + card_text("FN:B", "UID:1")))) == 2
