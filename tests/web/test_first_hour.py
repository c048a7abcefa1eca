"""The first hour, in German: from the bare address to a mail about a birthday, which nobody had to ask for."""

import datetime as dt
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.core.management import call_command
from playwright.sync_api import expect

from people.models import ImportantDate
from tests.mailbox import smtp_server, text_of, use_mailbox
from tests.people.importing.uploads import vcard
from tests.web.conftest import PASSWORD, Web
from tests.web.test_imports import DESK, DROP

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

BERLIN = ZoneInfo("Europe/Berlin")


def test_from_the_bare_address_to_a_mail_about_a_birthday(web: Web, settings: Any) -> None:
    coming = (dt.datetime.now(BERLIN).date() + dt.timedelta(days=days) for days in (3, 4))
    birthday = next(day for day in coming if (day.month, day.day) != (2, 29))
    born = birthday.replace(year=birthday.year - 40)
    cards = vcard("N:Weiß;Greta;;;", "FN:Greta Weiß", f"BDAY:{born.isoformat()}", "TEL:+49 170 1112233")
    with smtp_server() as mailbox:
        use_mailbox(mailbox, settings)
        web.chromium.complaints.expected.append("status of 401")
        page = web.visitor(locale="de-DE", timezone_id="Europe/Berlin", **DESK).new_page()
        page.goto(web.base)
        page.get_by_role("link", name="Konto anlegen").click()
        page.get_by_label("Ihr Name").fill("Nora")
        page.get_by_label("E-Mail").fill("nora@example.org")
        page.get_by_label("Passwort", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Konto anlegen").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Willkommen, Nora")
        page.evaluate(DROP, ["adressbuch.vcf", cards.decode()])
        expect(page.get_by_role("switch", name="1 Geburtstag: am Tag selbst erinnern")).to_be_checked()
        expect(page.get_by_role("button", name="1 Person hereinholen")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="1 Person kam herein")).to_be_visible()
        expect(page.get_by_text("An 1 Tag wird erinnert.")).to_be_visible()
        page.get_by_role("link", name="Zu den Personen").click()
        expect(page.get_by_role("row", name="Greta Weiß")).to_be_visible()
        web.synced(page)
        page.close()
        assert ImportantDate.unscoped.get().reminder_enabled
        before = len(mailbox.messages)  # the link that proves the address
        noon = dt.datetime.combine(birthday, dt.time(12), BERLIN)
        for moment, count in ((noon - dt.timedelta(days=1), 0), (noon, 1), (noon + dt.timedelta(hours=1), 1)):
            with time_machine.travel(moment):
                call_command("deliver_reminders")
            assert len(mailbox.messages) == before + count
        mail = mailbox.last()
        assert mailbox.recipients[-1] == ["nora@example.org"]
        assert "Greta Weiß" in str(mail["Subject"])
        assert "Geburtstag" in str(mail["Subject"])
        assert "40" in text_of(mail)
