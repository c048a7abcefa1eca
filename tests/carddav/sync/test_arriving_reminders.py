"""Dates that the sync or a pending import brings: the account's `dateReminderDefault` decides."""

from typing import Any

import pytest

from accounts.models import User
from people.models import ImportantDate
from tests.builders import set_plan_limits
from tests.carddav.sync.synced_account import SyncedAccount, vcard
from tests.client import Client

pytestmark = [pytest.mark.sqlite_suffices, pytest.mark.django_db]

BIRTHDAY, MET = "BDAY:1815-12-10", ("item1.X-ABDATE:2001-02-03", "item1.X-ABLabel:Met")


def choose(user: User, choice: str) -> None:
    user.date_reminder_default = choice
    user.save()


def reminders_of(user: User) -> dict[str | None, bool]:
    rows = ImportantDate.objects.owned_by(user).active().order_by("id")
    assert all((row.next_due_at is not None) == row.reminder_enabled for row in rows)
    return {row.type or row.title: row.reminder_enabled for row in rows}


@pytest.mark.both_databases
@pytest.mark.parametrize("choice", ["none", "birthdays", "all"])
def test_new_card_of_a_server(synced: SyncedAccount, choice: str) -> None:
    choose(synced.owner, choice)
    synced.server.edit("1.vcf", vcard("Ada L", BIRTHDAY, *MET, uid="ada"))
    synced.sync()
    assert reminders_of(synced.owner) == {"BIRTHDAY": choice != "none", "Met": choice == "all"}


@pytest.mark.parametrize("choice", ["none", "birthdays", "all"])
def test_dates_that_a_server_adds(synced: SyncedAccount, choice: str) -> None:
    synced.server.edit("1.vcf", vcard("Ada L", BIRTHDAY, uid="ada"))
    synced.sync()
    choose(synced.owner, choice)
    synced.server.edit("1.vcf", vcard("Ada L", "BDAY:1815-12-11", *MET, uid="ada"))
    synced.sync()
    assert reminders_of(synced.owner) == {"BIRTHDAY": False, "Met": choice == "all"}


def test_beyond_the_plan_a_date_is_without(synced: SyncedAccount, settings: Any) -> None:
    choose(synced.owner, "all")
    set_plan_limits(settings, people=50, groups=10, reminders=1, templates=1)
    synced.server.edit("1.vcf", vcard("Ada L", BIRTHDAY, *MET, uid="ada"))
    run = synced.sync()
    assert not run.error_messages
    assert sorted(reminders_of(synced.owner).values()) == [False, True]


@pytest.mark.parametrize("choice", ["none", "birthdays", "all"])
def test_pending_import(api: Client, alice: User, choice: str) -> None:
    choose(alice, choice)
    api.generic("POST", "/api/vcard/upload", vcard("Ada L", BIRTHDAY, *MET).encode(), "text/vcard")
    [row] = api.ok("GET", "/api/carddav/pending-imports")["pendingImports"]
    api.ok("POST", "/api/carddav/import", {"importIds": [row["id"]]})
    assert reminders_of(alice) == {"BIRTHDAY": choice != "none", "Met": choice == "all"}
