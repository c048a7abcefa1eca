"""Cards in version 4.0, made from those in 3.0 that are stored."""

import pytest

from accounts.models import User
from tests.client import client_of
from tests.dav.devices import Device
from tests.dav.test_put_rules import card

pytestmark = pytest.mark.django_db

V4 = {"HTTP_ACCEPT": "text/vcard; version=4.0"}


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("BDAY;X-APPLE-OMIT-YEAR=1604:1604-04-12", "BDAY:--0412"),
        ("BDAY;VALUE=date;X-APPLE-OMIT-YEAR=1604:1604-04-12", "BDAY;VALUE=date:--0412"),
        ("ANNIVERSARY;X-APPLE-OMIT-YEAR=1604:1604-04-12", "ANNIVERSARY:--0412"),
        ("BDAY;X-APPLE-OMIT-YEAR=1904:1904-04-12", "BDAY:--0412"),
        ("BDAY;X-APPLE-OMIT-YEAR=1604:1980-04-12", "BDAY;X-APPLE-OMIT-YEAR=1604:19800412"),
        ("BDAY:1980-04-12", "BDAY:19800412"),
        # RFC 6350, 3.4: a semicolon in a value of one part may be escaped. RFC 2426, 4, knows none that is not.
        ("NOTE:one\\;two\\, three", "NOTE:one\\;two\\, three"),
    ],
)
def test_the_lines_of_another_version(alice: User, stored: str, shown: str) -> None:
    device = Device(alice)
    device.put("a.vcf", card(stored))
    assert stored in device.text("a.vcf").splitlines()
    lines = device.text("a.vcf", **V4).splitlines()
    assert shown in lines
    assert "VERSION:4.0" in lines


@pytest.mark.parametrize("line", ["BDAY:--0412", "BDAY;X-APPLE-OMIT-YEAR=1604:--0412", "BDAY;VALUE=DATE:--04-12"])
def test_a_day_without_a_year_in_a_card_of_any_version(alice: User, line: str) -> None:
    device = Device(alice)
    text = card(line).replace("VERSION:3.0", "VERSION:4.0")
    assert device.put("a.vcf", text).status_code == 201
    (person,) = client_of(alice).ok("GET", "/api/people")["people"]
    (date,) = client_of(alice).ok("GET", f"/api/people/{person['id']}")["person"]["importantDates"]
    assert (date["date"][5:10], date["yearUnknown"]) == ("04-12", True)
    shown = next(line for line in device.text("a.vcf", **V4).splitlines() if line.startswith("BDAY"))
    assert shown.endswith(":--0412")
    assert "OMIT" not in shown
    three = next(line for line in device.text("a.vcf").splitlines() if line.startswith("BDAY"))
    assert (three.endswith(":1604-04-12"), three.count("X-APPLE-OMIT-YEAR=1604")) == (True, 1)
