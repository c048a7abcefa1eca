"""What a number dials, and the lines of an address, where the client computes them itself."""

from typing import Any

import pytest

from people.letters.lines import address_lines
from tests import ROOT
from tests.web.modules import run_in_client

DIALLED = {
    "+44 20 7946 0000": "tel:+442079460000",
    "+1-201-555-0123 ext. 5": "tel:+12015550123,5",
    "030 1234567 Durchwahl 12": "tel:0301234567,12",
    "+1 201 555 0123 x5": "tel:+12015550123,5",
    "+49 30 123456,,789#": "tel:+4930123456,789",
    "+49 (0)151 1234567": "tel:+491511234567",
    "(+49) (0) 151 1234567": "tel:+491511234567",
    "0049 (0)151 1234567": "tel:00491511234567",
    "(0151) 1234567": "tel:01511234567",
    "(0) 151 1234567": "tel:01511234567",
    "1-800-FLOWERS": "tel:18003569377",
    "0800 flowers": "tel:08003569377",
    "1-800-TAXI": "tel:18008294",
    "030 1234567 (home)": "tel:0301234567",
    "home: 030 1234567": "tel:0301234567",
    "tel:+3012345678": "tel:+3012345678",
    "*31#0301234567": "tel:*31%230301234567",
    "+٤٩ ٣٠ ١٢٣٤٥٦": "tel:+4930123456",
    "+81 3-1234-5678": "tel:+81312345678",
    "०३० १२३४": "tel:0301234",
    "112": "tel:112",
    "12": None,
    "unknown": None,
}
DIAL = """
const { messageWays, smsUrl, telUrl } = await load("features/people/reach.ts");
const ways = messageWays({
  phoneNumbers: [{ number: "+49 (0)151 1234567", type: "cell" }, { number: "030 123456", type: "home" }],
  imHandles: [{ handle: "@ada", protocol: "telegram" }, { handle: "ABCD1234", protocol: "threema" }],
});
const sms = smsUrl("+1-201-555-0123 ext. 5");
return { dialled: input.map(telUrl), sms, ways: ways.map(({ by, url }) => [by, url]) };
"""
LINES = """
const { addressLines } = await load("features/person/addresses.ts");
return input.map(addressLines);
"""
LATIN = {
    "streetLine1": "Karl Johans gate 1",
    "streetLine2": "2. etasje",
    "locality": "Byen",
    "region": "Fylket",
    "postalCode": "0154",
}
CJK = {"streetLine1": "千代田1-1", "locality": "千代田区", "region": "東京都", "postalCode": "100-8111"}


def test_number_dials_what_is_written() -> None:
    found = run_in_client(DIAL, list(DIALLED))
    assert dict(zip(DIALLED, found["dialled"], strict=True)) == DIALLED
    assert found["sms"] == "sms:+12015550123"
    assert found["ways"] == [
        ["Telegram", "https://t.me/ada"],
        ["SMS", "sms:+491511234567"],
        ["WhatsApp", "https://wa.me/491511234567"],
        ["Signal", "https://signal.me/#p/+491511234567"],
    ]


@pytest.mark.sqlite_suffices
def test_address_has_the_lines_of_its_letter_in_every_country() -> None:
    codes = sorted(
        {
            line.split()[0]
            for line in (ROOT / "people/country_names.txt").read_text("utf-8").splitlines()
            if not line.startswith("#")
        }
        - {"QO", "EU", "EZ", "UN", "ZZ", "XA", "XB"}
    )
    assert len(codes) > 240
    addresses: list[Any] = [
        {**values, "country": country}
        for country in [*codes, "Österreich", "日本", "United Kingdom", "USA", "Norge", "Italia", "Brasil"]
        for values in (LATIN, CJK, {"streetLine1": "1 Main Street", "locality": "Fylket", "region": "Fylket"})
    ]
    found = run_in_client(LINES, addresses)
    expected = [address_lines(address, home=None, with_country=True) for address in addresses]
    assert [pair for pair in zip(found, expected, strict=True) if pair[0] != pair[1]] == []


def test_address_without_a_country_has_the_postal_code_before_the_town() -> None:
    assert run_in_client(LINES, [{**LATIN, "region": None, "streetLine2": ""}]) == [["Karl Johans gate 1", "0154 Byen"]]
