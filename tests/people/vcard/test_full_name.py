"""FN that says nothing but N stays as it came while the name does, and follows a change in its own order."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from people.vcard import Card, patch_card, read_card, write_card
from people.vcard.full_name import FIELDS, says_only_name
from people.vcard.parser import CardText
from people.vcard.writer import patch_text
from tests.people.vcard.work import count_work
from tests.rounds import rounds

pytestmark = pytest.mark.one_database


def vcard(*lines: str, version: str = "3.0") -> str:
    return "".join(f"{line}\r\n" for line in ("BEGIN:VCARD", f"VERSION:{version}", *lines, "UID:1", "END:VCARD"))


def lines_of(text: str, *names: str) -> list[str]:
    return [line for line in text.split("\r\n") if line.partition(":")[0].partition(";")[0] in names]


@pytest.mark.parametrize(
    ("name", "full", "changes", "expected"),
    [
        ("Nagy;János;;;", "Nagy János", {"surname": "Kiss"}, "Kiss János"),
        ("Nagy;János;;;", "Nagy János", {"middle_name": "Béla"}, "Nagy János Béla"),
        ("Nagy;János;;Dr.;", "Nagy János", {"surname": "Kiss"}, "Kiss János"),
        ("Nagy;János;;Dr.;", "Dr. Nagy János", {"prefix": None}, "Nagy János"),
        ("Nagy;János;;;", "NAGY János", {"surname": "Kiss"}, "KISS János"),
        ("Ruiz;Ana;;;", "Ruiz, Ana", {"surname": "Gómez Pérez"}, "Gómez Pérez, Ana"),
        ("Ruiz;Ana;;;", "Ruiz, Ana", {"surname": None}, "Ana"),
        ("Ruiz;Ana;;;", "Ruiz, Ana", {"prefix": "Dra.", "suffix": "jr."}, "Dra. Ruiz, Ana jr."),
        ("山田;太郎;;;", "山田 太郎", {"surname": "佐藤"}, "佐藤 太郎"),
        ("山田;太郎;;;", "山田\u3000太郎", {"surname": "佐藤"}, "佐藤\u3000太郎"),
        ("Кузнецов;Иван;Петрович;;", "Кузнецов Иван Петрович", {"surname": "Попов"}, "Попов Иван Петрович"),
        ("Кузнецов;Иван;Петрович;;", "Кузнецов Иван Петрович", {"middle_name": None}, "Кузнецов Иван"),
        ("Doe;Jo-Ann;;;", "Doe (Jo-Ann)", {"surname": "Roe"}, "Roe (Jo-Ann)"),
        ("Müller;Jörg;;;", "Mu\u0308ller, Jo\u0308rg", {"surname": "Maier"}, "Maier, Jörg"),
    ],
)
def test_a_full_name_follows_in_its_own_order(name: str, full: str, changes: dict[str, Any], expected: str) -> None:
    for version in ("3.0", "4.0"):
        text = vcard(f"N:{name}", f"FN:{full}", "TEL:1", version=version)
        card, _ = read_card(text)
        assert card.display_name is None
        # While the name stays, so does FN, whatever format a connection has and whatever else is edited.
        assert patch_card(text, card, full_name="János Nagy") == text
        assert lines_of(patch_card(text, replace(card, job_title="x"), full_name="x"), "FN", "N") == [
            f"N:{name}",
            f"FN:{full}",
        ]
        for after in (
            patch_card(text, replace(card, **changes)),
            patch_card(text, replace(card, **changes), full_name="A B"),
            write_card(replace(card, **changes), version),
            write_card(replace(card, **changes), version, full_name="A B"),
        ):
            [line] = lines_of(after, "FN")
            assert read_card(vcard(line))[0].full_name == expected.strip()
            assert read_card(after)[0].display_name is None
            assert read_card(after)[0].surname == changes.get("surname", card.surname)


def test_a_name_by_its_script_is_made_and_read_as_it_is_shown() -> None:
    card = Card(name="太郎", surname="山田", prefix="Dr.")
    text = write_card(replace(card, uid="1"))
    assert "FN:Dr. 山田太郎" in text
    read, _ = read_card(text)
    assert (read.name, read.surname, read.display_name) == ("太郎", "山田", None)
    renamed = patch_card(text, replace(read, surname="佐藤"))
    assert "FN:Dr. 佐藤太郎" in renamed


def test_a_nickname_in_quotes_goes_with_its_quotes() -> None:
    card, _ = read_card(vcard("N:Doe;John;;;", "NICKNAME:Johnny", 'FN:Doe\\, John "Johnny"'))
    assert lines_of(write_card(replace(card, nickname=None), "3.0"), "FN") == ["FN:Doe\\, John"]
    assert lines_of(write_card(replace(card, nickname="Jack"), "3.0"), "FN") == ['FN:Doe\\, John "Jack"']
    card, _ = read_card(vcard("N:Doe;John;;;", "NICKNAME:Johnny", "FN:Doe (Johnny) John"))
    assert lines_of(write_card(replace(card, nickname=None), "3.0"), "FN") == ["FN:Doe John"]


@pytest.mark.parametrize(
    "full", ["Nagy János, Budapest", "Nagy J.", "NagyJános", "János bácsi", "Nagy", "Nagy & János"]
)
def test_a_full_name_that_says_something_else_is_the_display_name(full: str) -> None:
    card, _ = read_card(vcard("N:Nagy;János;;;", f"FN:{full.replace(',', chr(92) + ',')}"))
    assert card.display_name == full
    assert read_card(write_card(replace(card, surname="Kiss"), "4.0"))[0].display_name == full


def test_a_display_name_of_our_own_that_says_only_the_name_survives() -> None:
    card = Card(name="János", surname="Nagy", display_name="Nagy János", uid="1")
    for version in ("3.0", "4.0"):
        text = write_card(card, version)
        assert "X-DISPLAY-NAME:Nagy János" in text
        assert read_card(text)[0].display_name == "Nagy János"
    assert patch_card(text, replace(card, surname="Kiss")).count("Nagy János") == 2


def test_a_company_has_no_parts_of_a_name() -> None:
    company = Card(name="Wetterdienst", organization="Wetterdienst", uid="1")
    came = read_card(vcard("FN:Wetterdienst", "ORG:Wetterdienst"))[0]
    apple = read_card(vcard("N:;;;;", "FN:Wetter", "ORG:Wetterdienst", "X-ABShowAs:COMPANY"))[0]
    for card in (company, came, apple):
        for version in ("3.0", "4.0"):
            for edited in (card, replace(card, name="Amt", organization="Amt"), replace(card, name="Amt")):
                text = write_card(edited, version)
                expected = "N:;Amt;;;" if card is company and edited.organization != edited.name else "N:;;;;"
                assert lines_of(text, "N", "FN") == [expected, f"FN:{edited.name}"] or lines_of(text, "FN", "N") == [
                    f"FN:{edited.name}",
                    expected,
                ]
                assert read_card(text)[0].name == edited.name
                assert read_card(text)[0].display_name is None
    [line] = lines_of(write_card(replace(company, surname="Maier"), "3.0"), "N")
    assert line == "N:Maier;Wetterdienst;;;"
    text = vcard("N:;Wetterdienst;;;", "FN:Wetterdienst", "ORG:Wetterdienst")
    assert patch_card(text, read_card(text)[0]) == text


def test_a_hostile_full_name_takes_few_steps() -> None:
    """Parts that are separators, too, might each stand at any place."""
    parts = dict(zip(FIELDS, (".", "a", ",", "/", "|", ";", "("), strict=True))
    full = "a" + " .,/|;(" * 60 + "b"
    assert 0 < count_work(lambda: says_only_name(full, Card(**parts))) < 20_000  # type: ignore[arg-type]  # texts


PARTS = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["Ana", "An Na", "a", "太", "Na", "ß"]),
        **{
            field: st.one_of(st.none(), st.sampled_from(["Ruiz", "Na", "a", "An", "山", "de la O", "."]))
            for field in ("surname", "middle_name", "prefix", "suffix", "nickname", "second_last_name")
        },
    }
)


@settings(max_examples=rounds(200), deadline=None)
@given(
    PARTS, PARTS, st.text(st.sampled_from("AnaRuizß太山 ,.()'"), max_size=20), st.permutations(range(7)), st.booleans()
)
def test_any_full_name_is_read_back(
    old: dict[str, Any], new: dict[str, Any], text: str, order: list[int], is_of_parts: bool
) -> None:
    """Writing and reading gives the same names, with every FN before and after; a second run changes nothing."""
    if is_of_parts:
        text = ", ".join(value for index in order if (value := list(old.values())[index]))
    given_card = Card(**old, display_name=" ".join(text.split()) or None, uid="1")
    for version in ("3.0", "4.0"):
        written = write_card(replace(given_card, display_name=None), version, full_name=text.strip() or None)
        came, _ = read_card(written)
        assert came.display_name is None or not says_only_name(came.display_name, came)
        assert patch_text(CardText(written), came).text == written
        renamed = replace(came, **new)
        after = patch_card(written, renamed)
        read = read_card(after)[0]
        for field in (*new, "display_name"):
            assert getattr(read, field) == getattr(renamed, field), (field, after)
        assert patch_card(after, renamed) == after
        assert read_card(write_card(given_card, version))[0].display_name == given_card.display_name
