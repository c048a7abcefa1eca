"""Forms: what is typed stays, what was not typed is as the newest record has it, and only Save and Cancel decide."""

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from people.models import CustomFieldTemplate, ImportantDate, Interaction
from tests.builders import make_person
from tests.client import Client
from tests.web.conftest import Web

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

KEPT_AFTER_MILLISECONDS = 400  # a draft is stored a moment after the last key


def tap_outside(page: Page) -> None:
    page.mouse.click(3, 3)
    expect(page.get_by_role("dialog")).to_be_visible()


def leave_with_a_draft(page: Page) -> None:
    page.wait_for_timeout(KEPT_AFTER_MILLISECONDS)
    page.reload()


def edit_the_date(page: Page) -> None:
    page.get_by_role("button", name="Birthday of Ada").click()
    page.get_by_role("menuitem", name="Edit").click()


def test_date_keeps_what_was_changed_elsewhere_while_its_draft_waited(web: Web, alice: User, elsewhere: Client) -> None:
    ada = make_person(alice, name="Ada")
    path = f"/api/people/{ada.pk}/important-dates"
    birthday = {"type": "BIRTHDAY", "date": "1990-05-01", "reminderEnabled": False}
    made = elsewhere.ok("POST", path, birthday)["importantDate"]
    page = web.open(f"/people/{ada.pk}")
    edit_the_date(page)
    page.get_by_label("Day", exact=True).fill("1990-05-02")
    tap_outside(page)
    leave_with_a_draft(page)
    elsewhere.ok("PUT", f"{path}/{made['id']}", {**birthday, "reminderEnabled": True, "reminderLeadDays": 7})
    expect(page.get_by_role("region", name="Dates")).to_contain_text("Reminder on the day, and 7 days before")
    edit_the_date(page)
    expect(page.get_by_label("Day", exact=True)).to_have_value("1990-05-02")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    web.eventually(page, ImportantDate.unscoped.filter(date="1990-05-02").exists)
    date = ImportantDate.unscoped.get()
    assert (date.reminder_enabled, date.reminder_lead_days) == (True, 7)


def test_custom_field_keeps_what_was_changed_elsewhere_while_it_was_open(
    web: Web, alice: User, elsewhere: Client
) -> None:
    body = {"name": "Club", "type": "SELECT", "options": ["Chess"]}
    made = elsewhere.ok("POST", "/api/custom-field-templates", body, status=201)["customFieldTemplate"]
    page = web.open("/custom-fields")
    page.get_by_role("button", name="Change Club").click()
    page.get_by_label("Name of the field").fill("Society")
    elsewhere.ok("PUT", f"/api/custom-field-templates/{made['id']}", {"options": ["Chess", "Rowing"]})
    expect(page.get_by_text("Chess, Rowing")).to_be_visible()
    for name in ("Society", "Circle"):  # the second change is no conflict with the first one
        page.get_by_label("Name of the field").fill(name)
        page.get_by_label("Options, one a line").focus()
        web.eventually(page, CustomFieldTemplate.unscoped.filter(name=name).exists)
    expect(page.get_by_role("link", name="Decide")).to_have_count(0)
    assert CustomFieldTemplate.unscoped.get().options == ["Chess", "Rowing"]


def test_entry_keeps_what_was_changed_elsewhere_while_it_was_open(web: Web, alice: User, elsewhere: Client) -> None:
    ada = make_person(alice, name="Ada")
    at = "2026-01-05T10:20:30Z"
    body = {"personIds": [str(ada.pk)], "kind": "CALL", "at": at}
    made = elsewhere.ok("POST", "/api/interactions", body, status=201)["interaction"]
    page = web.open(f"/log?entry={made['id']}")
    page.get_by_label("Title").fill("typed here")
    elsewhere.ok("PUT", f"/api/interactions/{made['id']}", {**body, "notes": "from elsewhere"})
    web.eventually(page, lambda: has_copy(page, "from elsewhere"))
    expect(page.get_by_label("Title")).to_have_value("typed here")
    page.get_by_role("button", name="Save").click()
    web.eventually(page, Interaction.unscoped.filter(title="typed here").exists)
    entry = Interaction.unscoped.get()
    assert entry.notes == "from elsewhere"
    assert f"{entry.at:%Y-%m-%dT%H:%M:%SZ}" == at, "the seconds that no form shows are kept"


def test_entry_that_is_deleted_elsewhere_while_it_is_open_comes_back_with_a_save(
    web: Web, alice: User, elsewhere: Client
) -> None:
    ada = make_person(alice, name="Ada")
    body = {"personIds": [str(ada.pk)], "kind": "CALL", "at": "2026-01-05T10:20:00Z"}
    made = elsewhere.ok("POST", "/api/interactions", body, status=201)["interaction"]
    page = web.open(f"/log?entry={made['id']}")
    page.get_by_label("Title").fill("typed here")
    elsewhere.ok("DELETE", f"/api/interactions/{made['id']}")
    expect(page.get_by_text("This was deleted elsewhere meanwhile.")).to_be_visible()
    expect(page.get_by_label("Title")).to_have_value("typed here")
    page.get_by_role("button", name="Save").click()
    web.eventually(page, Interaction.unscoped.filter(title="typed here", deleted_at=None).exists)


def test_back_button_keeps_the_draft_and_cancel_discards_it(web: Web, alice: User) -> None:
    page = web.open("/custom-fields")
    for _ in range(2):
        page.get_by_role("button", name="New field").click()
        name = page.get_by_label("Name of the field")
        name.fill("Club")
        page.go_back()
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.get_by_role("button", name="New field").click()
        expect(name).to_have_value("Club")
        page.get_by_role("button", name="Cancel").click()
        page.get_by_role("button", name="New field").click()
        expect(name).to_have_value("")
        expect(name).to_be_focused()  # before, the dialog is not open yet, and Escape closes nothing
        page.keyboard.press("Escape")
    assert not CustomFieldTemplate.unscoped.exists()


@pytest.mark.parametrize(("shown", "meant"), [("2026-07-01T09:30", "13:30"), ("2026-12-01T09:30", "14:30")])
def test_time_of_an_entry_is_that_of_the_account_and_not_of_the_browser(
    web: Web, alice: User, elsewhere: Client, shown: str, meant: str
) -> None:
    elsewhere.ok("PUT", "/api/user/timezone", {"timezone": "America/New_York"})
    ada = make_person(alice, name="Ada")
    context = web.context(timezone_id="Asia/Tokyo")
    page = web.open("/people", context)
    web.synced(page)
    page.goto(f"{web.base}/app/log?person={ada.pk}")
    page.get_by_label("When").fill(shown)
    page.get_by_role("button", name="Save").click()
    web.eventually(page, Interaction.unscoped.exists)
    entry = Interaction.unscoped.get()
    assert f"{entry.at:%H:%M}" == meant
    page.goto(f"{web.base}/app/log?entry={entry.pk}")
    expect(page.get_by_label("When")).to_have_value(shown)


def has_copy(page: Page, text: str) -> bool:
    """Whether the copy in the browser has a record with this text."""
    read = """async (text) => {
      const [{ name }] = await indexedDB.databases();
      const opening = indexedDB.open(name);
      await new Promise((done) => (opening.onsuccess = done));
      const database = opening.result;
      const rows = database.transaction("records").objectStore("records").getAll();
      await new Promise((done) => (rows.onsuccess = done));
      database.close();
      return JSON.stringify(rows.result).includes(text);
    }"""
    return bool(page.evaluate(read, text))
