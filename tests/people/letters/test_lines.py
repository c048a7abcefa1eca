"""Addresses as their countries write them, with nothing lost."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contacts_project.kernel.text_forms import fold
from people.countries import country_key
from people.letters.lines import FIELDS, address_lines

VIENNA = {"streetLine1": "Hauptstraße 5", "streetLine2": "Top 3", "postalCode": "1010", "locality": "Wien"}


def lines(**address: Any) -> list[str]:
    return address_lines(address, home="AT", with_country=True)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        (VIENNA, ["Hauptstraße 5", "Top 3", "1010 Wien"]),
        (VIENNA | {"country": "Österreich"}, ["Hauptstraße 5", "Top 3", "1010 Wien", "Österreich"]),
        (
            {"streetLine1": "1 Main St", "locality": "Boston", "region": "MA", "postalCode": "02110", "country": "USA"},
            ["1 Main St", "Boston, MA 02110", "USA"],
        ),
        (
            {"streetLine1": "1 Main St", "locality": "Boston", "postalCode": "02110", "country": "US"},
            ["1 Main St", "Boston 02110", "US"],
        ),
        (
            {"streetLine1": "10 Downing Street", "locality": "London", "postalCode": "SW1A 2AA", "country": "UK"},
            ["10 Downing Street", "London", "SW1A 2AA", "UK"],
        ),
        (
            {
                "streetLine1": "丸の内1-1",
                "locality": "千代田区",
                "region": "東京都",
                "postalCode": "100-0005",
                "country": "日本",
            },
            ["〒100-0005", "東京都千代田区", "丸の内1-1", "日本"],
        ),
        (
            {
                "streetLine1": "1-1 Marunouchi",
                "locality": "Chiyoda-ku",
                "region": "Tokyo",
                "postalCode": "100-0005",
                "country": "JP",
            },
            ["1-1 Marunouchi, Chiyoda-ku, Tokyo", "100-0005", "JP"],
        ),
        (
            {"streetLine1": "Fő utca 1", "locality": "Budapest", "postalCode": "1011", "country": "Hungary"},
            ["Budapest", "Fő utca 1", "1011", "Hungary"],
        ),
        (
            {"streetLine1": "A 1", "postalCode": "SE-111 22", "locality": "Stockholm", "country": "SE"},
            ["A 1", "SE-111 22 Stockholm", "SE"],
        ),
        (
            {"streetLine1": "1 Raffles", "locality": "Singapore", "postalCode": "048616", "country": "SG"},
            ["1 Raffles", "Singapore 048616", "SG"],
        ),
        (
            {"streetLine1": "A 1", "postalCode": "80331", "locality": "München", "region": "Bayern", "country": "DE"},
            ["A 1", "80331 München", "Bayern", "DE"],
        ),
        (
            {"streetLine1": "A 1", "locality": "Town", "postalCode": "1", "country": "Atlantis"},
            ["A 1", "Town", "1", "Atlantis"],
        ),
        ({"streetLine1": "Two\nlines", "country": "AT"}, ["Two", "lines", "AT"]),
        ({}, []),
    ],
)
def test_an_address_is_written_as_in_its_country(address: dict[str, Any], expected: list[str]) -> None:
    assert lines(**address) == expected


_COUNTRIES = st.sampled_from(
    [
        None,
        *(
            "AD",
            "AE",
            "AQ",
            "AT",
            "AX",
            "BB",
            "BD",
            "BR",
            "CH",
            "CN",
            "DE",
            "FR",
            "GB",
            "GG",
            "GI",
            "HK",
            "HU",
            "IE",
            "IL",
            "IN",
            "JP",
            "KP",
            "KR",
            "KY",
            "KZ",
            "LI",
            "LU",
            "MC",
            "MO",
            "MX",
            "NR",
            "PR",
            "SE",
            "SG",
            "TR",
            "TW",
            "US",
        ),
    ]
) | st.text(max_size=10)
_TEXTS = st.none() | st.text(max_size=12) | st.text(st.sampled_from("ab 丸1-\n,%ACSZn〒"), max_size=12)


@given(
    st.fixed_dictionaries({**dict.fromkeys(FIELDS, _TEXTS), "country": _COUNTRIES}),
    st.sampled_from([None, "AT", "JP", "US"]),
)
def test_nothing_that_an_address_has_is_lost(address: dict[str, Any], home: str | None) -> None:
    found = address_lines(address, home=home, with_country=True)
    written = fold(" ".join(found))
    for name, text in address.items():
        for line in (text or "").splitlines():
            # What consists of marks alone, fold keeps as it is.
            assert fold(line) in written or line.strip() in " ".join(found), (name, line, found)
    assert all(line.strip() == line and line for line in found)
    shorter = address_lines(address, home=home, with_country=False)
    assert shorter == (found[:-1] if (address["country"] or "").strip() else found)


def test_the_country_of_the_format_is_found_by_any_of_its_names() -> None:
    assert {country_key(name) for name in ("JP", "日本", "Japan", "Japon")} == {"JP"}
