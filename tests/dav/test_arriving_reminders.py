"""Dates on cards of devices: the account's `dateReminderDefault` decides, and a date that was here keeps its own."""

from typing import Any

import pytest

from accounts.models import User
from tests.builders import set_plan_limits
from tests.dav.devices import Device, card, person_of

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_suffices]

DATED = ("BDAY:1815-12-10", "ANNIVERSARY:20100708", "item1.X-ABDATE:2001-02-03", "item1.X-ABLabel:Met")


def choose(user: User, choice: str) -> None:
    user.date_reminder_default = choice
    user.save()


def reminders_of(user: User) -> dict[str, bool]:
    return {day["type"] or day["title"]: day["reminderEnabled"] for day in person_of(user)["importantDates"]}


@pytest.mark.both_databases
@pytest.mark.parametrize("choice", ["none", "birthdays", "all"])
def test_new_card(alice: User, choice: str) -> None:
    choose(alice, choice)
    assert Device(alice).put("ada.vcf", card(*DATED)).status_code == 201
    assert reminders_of(alice) == {"BIRTHDAY": choice != "none", "Met": choice == "all"}


@pytest.mark.both_databases
@pytest.mark.parametrize("choice", ["none", "birthdays", "all"])
def test_dates_that_a_device_adds(alice: User, choice: str) -> None:
    device = Device(alice)
    device.put("ada.vcf", card("BDAY:1815-12-10"))
    choose(alice, choice)
    device.get("ada.vcf")
    more = ("BDAY:1815-12-11", *DATED[2:])
    assert device.put("ada.vcf", card(*more)).status_code == 204
    assert reminders_of(alice) == {"BIRTHDAY": False, "Met": choice == "all"}


def test_birthday_that_a_device_adds(alice: User) -> None:
    choose(alice, "birthdays")
    device = Device(alice)
    device.put("ada.vcf", card())
    device.get("ada.vcf")
    device.put("ada.vcf", card("BDAY:1815-12-10"))
    assert reminders_of(alice) == {"BIRTHDAY": True}


@pytest.mark.parametrize("is_new", [True, False])
def test_beyond_the_plan_a_date_is_without(alice: User, settings: Any, *, is_new: bool) -> None:
    choose(alice, "all")
    set_plan_limits(settings, people=50, groups=10, reminders=1, templates=1)
    device = Device(alice)
    if not is_new:
        device.put("ada.vcf", card())
        device.get("ada.vcf")
    assert device.put("ada.vcf", card(*DATED)).status_code in {201, 204}
    assert sum(reminders_of(alice).values()) == 1
    assert len(reminders_of(alice)) == 2
