"""The doctor finds what is wrong in what devices are remembered by."""

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from django.db.models import F

from accounts.models import User
from contacts_project.kernel.invariants import find_violations
from dav.cards.texts import pack
from dav.models import BookCard, DeviceDeletion, FormerText, SelectedCard
from tests.client import client_of
from tests.dav.devices import Device, card, signed_in
from tests.dav.test_selection import configure

# The doctor looks at the rows of the schedule, too.
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("schedule")]


def rows(model: Any, user: User) -> Any:
    return model.objects.owned_by(user)


def remove(user: User) -> None:
    person = rows(BookCard, user).get(name="b.vcf").person_id
    api = client_of(user)
    api.ok("DELETE", f"/api/people/{person}")
    api.ok("DELETE", f"/api/people/{person}/permanent")


def keep_text(user: User) -> None:
    remove(user)
    rows(BookCard, user).filter(name="b.vcf").update(text=pack("secret"))


def keep_former(user: User) -> None:
    remove(user)
    row = rows(BookCard, user).get(name="b.vcf")
    FormerText.objects.create(owner=user, card=row, etag="x", text=b"secret")


BROKEN: dict[str, Callable[[User], Any]] = {
    "cards left the selection of a device before they came to it": lambda a: (
        rows(SelectedCard, a).filter(card__name="b.vcf").update(left_revision=F("entered_revision") - 1)
    ),
    "cards are shown to devices that do not get them": lambda a: (
        rows(SelectedCard, a).filter(card__name="b.vcf").update(left_revision=None)
    ),
    "hidden from those that do": lambda a: rows(SelectedCard, a).filter(card__name="a.vcf").delete(),
    "deletions by devices are noted from before": lambda a: rows(DeviceDeletion, a).update(
        deleted_at=F("deleted_at") - dt.timedelta(days=1)
    ),
    "cards of people and groups who were removed for good still have their texts": keep_text,
    "removed for good still have their texts": keep_former,
    "ETags that do not belong": lambda a: rows(BookCard, a).filter(name="a.vcf").update(text=pack("other")),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_the_doctor_finds_it(alice: User, broken: str) -> None:
    device, family = Device(alice), Device(alice)
    for name in ("a", "b", "c"):
        device.put(f"{name}.vcf", card().replace("u-1", f"u-{name}").replace("Ada", name))
    api = client_of(alice)
    people = dict(rows(BookCard, alice).values_list("name", "person_id"))
    api.ok("PUT", f"/api/people/{people['a.vcf']}", {"favourite": True})
    api.ok("PUT", f"/api/people/{people['b.vcf']}", {"favourite": True})
    configure(signed_in(alice), family, book={"favourites": True})
    assert len(family.sync().entries) == 2
    api.ok("PUT", f"/api/people/{people['b.vcf']}", {"favourite": False})
    assert len(family.sync().entries) == 1
    device.text("c.vcf")
    assert device.call("DELETE", f"{device.book}c.vcf").status_code == 204
    device.sync()
    family.sync()
    assert list(find_violations()) == []
    BROKEN[broken](alice)
    assert [found for found in find_violations(broken) if found.number > 0]
