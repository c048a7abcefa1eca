"""Import: files are dropped, chosen or pasted, looked at, brought in, their receipt read again, and all undone."""

from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from accounts.models import User
from people.models import ContactImport, ImportantDate, Person
from tests.builders import make_person, set_plan_limits
from tests.client import Client
from tests.people.importing.uploads import import_vcards, vcard
from tests.web.conftest import Web
from tests.web.test_accessibility import violations, violations_in_both_schemes

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

CARDS = (
    "BEGIN:VCARD\r\nVERSION:3.0\r\nN:Lovelace;Ada;;;\r\nFN:Ada Lovelace\r\nBDAY:1815-12-10\r\nUID:a\r\nEND:VCARD\r\n"
    "BEGIN:VCARD\r\nVERSION:3.0\r\nN:Babbage;Charles;;;\r\nFN:Charles Babbage\r\nUID:b\r\nEND:VCARD\r\n"
)
TABLE = "name,surname,birthday\nAda,Lovelace,1815-12-10\nBob,Builder,31.02.1990\n"
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
DESK: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}}
DROP = """([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  const init = { dataTransfer: data, bubbles: true, cancelable: true };
  for (const type of ["dragover", "drop"]) document.body.dispatchEvent(new DragEvent(type, init));
}"""
PASTE = """(text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
}"""


def file(name: str, text: str | bytes) -> Any:
    return {"name": name, "mimeType": "", "buffer": text if isinstance(text, bytes) else text.encode()}


def choose(page: Page, *files: Any) -> None:
    page.get_by_label("Choose files").first.set_input_files(list(files))


def bring_in(page: Page, name: str = "Bring in 2 people") -> None:
    page.get_by_role("button", name=name).click()


def people() -> Any:
    return Person.unscoped.filter(deleted_at=None)


@pytest.mark.parametrize("screen", [PHONE, DESK], ids=["phone", "desk"])
def test_each_step_is_for_everybody(web: Web, screen: Any) -> None:
    page = web.open("/import", web.context(**screen))
    assert violations_in_both_schemes(page) == []
    page.get_by_role("button", name="iCloud").click()
    assert violations_in_both_schemes(page) == []
    page.keyboard.press("Escape")
    choose(page, file("people.csv", TABLE), file("photo.jpg", b"\xff\xd8\xff\xe0"))
    expect(page.get_by_role("button", name="Bring in 2 people")).to_be_enabled()
    assert violations_in_both_schemes(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= screen["viewport"]["width"]
    bring_in(page)
    expect(page.get_by_role("heading", name="2 people came in")).to_be_visible()
    assert violations_in_both_schemes(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= screen["viewport"]["width"]


def test_what_would_happen_is_shown_and_birthdays_are_remembered(web: Web, alice: User, elsewhere: Client) -> None:
    import_vcards(elsewhere, vcard("N:Babbage;Charles;;;", "FN:Charles Babbage", "NOTE:Engines", "UID:b"))
    alice.date_reminder_default = "birthdays"
    alice.save()
    page = web.open("/import")
    choose(page, file("phone.vcf", CARDS))
    expect(page.get_by_text("2 people found · nothing is written yet")).to_be_visible()
    sums = page.get_by_role("listitem")
    expect(sums.filter(has_text="new person")).to_have_text("1 new person")
    expect(sums.filter(has_text="birthday").first).to_have_text("1 birthday")
    expect(page.get_by_role("switch", name="1 birthday: remind me on the day")).to_be_checked()
    assert ContactImport.unscoped.count() == 1
    bring_in(page, "Bring in 1 person")
    expect(page.get_by_text("1 day will be remembered.")).to_be_visible()
    assert ImportantDate.unscoped.get().reminder_enabled


def test_birthdays_without_a_reminder_if_the_switch_is_off(web: Web) -> None:
    page = web.open("/import")
    choose(page, file("phone.vcf", CARDS))
    switch = page.get_by_role("switch", name="1 birthday: remind me on the day")
    switch.uncheck()
    bring_in(page)
    expect(page.get_by_text("1 birthday, without a reminder.")).to_be_visible()
    assert not ImportantDate.unscoped.get().reminder_enabled
    page.get_by_role("button", name="Remind me of them on the day").click()
    web.eventually(page, lambda: ImportantDate.unscoped.get().reminder_enabled)
    page.get_by_role("button", name="Undo", exact=True).click()
    web.eventually(page, lambda: not ImportantDate.unscoped.get().reminder_enabled)


def test_several_files_come_in_together_and_into_a_group(web: Web, elsewhere: Client) -> None:
    group = elsewhere.ok("POST", "/api/groups", {"name": "Engines"}, status=201)["group"]["id"]
    page = web.open("/import")
    web.synced(page)
    choose(
        page, file("phone.vcf", CARDS), file("table.csv", "name,surname\nBob,Builder\n"), file("photo.png", b"\x89PNG")
    )
    expect(page.get_by_text("photo.png is a picture.")).to_be_visible()
    page.get_by_role("button", name="Leave out photo.png").click()
    page.get_by_label("Put them into a group").select_option(label="Engines")
    bring_in(page, "Bring in 3 people")
    expect(page.get_by_role("heading", name="3 people came in")).to_be_visible()
    assert len(elsewhere.ok("GET", f"/api/people?groupIds={group}")["people"]) == 3
    page.get_by_role("link", name="To the people").click()
    expect(page.get_by_role("row", name="Bob Builder")).to_be_visible()
    assert ContactImport.unscoped.count() == 2


def test_the_people_of_the_import_are_shown_its_receipt_read_again_and_all_undone(web: Web, alice: User) -> None:
    make_person(alice, name="Zoe")
    page = web.open("/account/data")
    page.get_by_role("link", name="Import people").click()
    choose(page, file("people.csv", TABLE))
    bring_in(page)
    page.get_by_role("link", name="To the people").click()
    expect(page.get_by_role("row", name="Bob Builder")).to_be_visible()
    expect(page.get_by_role("row", name="Zoe")).to_have_count(0)
    page.goto("/app/import")
    page.get_by_role("link", name="people.csv").click()
    expect(page.get_by_role("heading", name="2 people came in")).to_be_visible()
    expect(page.get_by_text("31.02.1990")).to_be_visible()
    page.get_by_role("link", name="Open Bob Builder").click()
    expect(page.get_by_role("heading", name="Bob Builder")).to_be_visible()
    page.go_back()
    page.get_by_role("button", name="Undo the import").click()
    expect(page.get_by_role("heading", name="This import was undone")).to_be_visible()
    web.eventually(page, lambda: people().count() == 1)
    page.goto("/app/import")
    expect(page.get_by_role("listitem").filter(has_text="people.csv")).to_contain_text("undone")


def test_what_is_in_the_history_is_undone_there(web: Web) -> None:
    page = web.open("/import")
    choose(page, file("phone.vcf", CARDS))
    bring_in(page)
    expect(page.get_by_role("heading", name="2 people came in")).to_be_visible()
    page.goto("/app/import")
    page.get_by_role("button", name="Undo the import of phone.vcf").click()
    expect(page.get_by_text("2 people went to the trash.")).to_be_visible()
    assert not people().exists()


def test_a_file_of_nothing_leaves_no_entry_and_says_what_is_right(web: Web) -> None:
    page = web.open("/import")
    choose(page, file("photo.jpg", b"\xff\xd8\xff\xe0"))
    expect(page.get_by_text("photo.jpg is a picture.")).to_be_visible()
    expect(page.get_by_text("contacts of a phone or an address book (.vcf)")).to_be_visible()
    # Whoever knows better may say so; what comes of it is in words for people.
    page.get_by_text("It is another kind of file").click()
    web.chromium.complaints.expected.append("status of 400")
    page.get_by_label("What it is").select_option(label="Phone, address book (vCard)")
    expect(page.get_by_text("Nobody was found in photo.jpg.")).to_be_visible()
    expect(page.get_by_text("BEGIN:VCARD")).to_have_count(0)
    expect(page.get_by_role("button", name="Bring in")).to_have_count(0)
    assert ContactImport.unscoped.count() == 0


def test_a_file_whose_people_are_here_leaves_no_entry(web: Web) -> None:
    page = web.open("/import")
    for _ in range(2):
        choose(page, file("phone.vcf", CARDS))
        if not people().exists():
            bring_in(page)
            expect(page.get_by_role("heading", name="2 people came in")).to_be_visible()
            page.goto("/app/import")
    expect(page.get_by_text("Everybody in it is here already")).to_be_visible()
    expect(page.get_by_role("button", name="Bring in")).to_be_disabled()
    assert ContactImport.unscoped.count() == 1


def test_cards_that_are_pasted_anywhere_and_lines_on_the_page_come_in(web: Web) -> None:
    page = web.open("/people")
    page.evaluate(PASTE, "no people at all")
    page.evaluate(PASTE, CARDS)
    expect(page.get_by_role("button", name="Bring in 2 people")).to_be_enabled()
    page.goto("/app/import")
    page.get_by_role("button", name="Typed or copied").click()
    page.get_by_label("One person in each line").fill("Ana García, +34 600 111 222, ana@example.org\nBen Miller")
    page.get_by_role("button", name="Look at them").click()
    bring_in(page)
    expect(page.get_by_role("heading", name="2 people came in")).to_be_visible()
    assert sorted(people().values_list("name", flat=True)) == ["Ana García", "Ben Miller"]


def test_a_card_without_a_name_is_named_by_its_place(web: Web) -> None:
    cards = "BEGIN:VCARD\nVERSION:3.0\nFN:Ada\nEND:VCARD\nBEGIN:VCARD\nVERSION:3.0\nNOTE:nobody\nEND:VCARD\n"
    page = web.open("/import")
    choose(page, file("two.vcf", cards))
    bring_in(page, "Bring in 1 person")
    expect(page.get_by_text("Entry 2 of the file")).to_be_visible()
    expect(page.get_by_role("link", name="Add by hand: Entry 2 of the file")).to_be_visible()


def test_days_that_could_be_either_are_asked(web: Web) -> None:
    page = web.open("/import")
    choose(page, file("people.csv", "name,birthday\nAda,4/3/1980\n"))
    page.get_by_label("Days such as 4/3/1980 are").select_option(label="day, month, year")
    expect(page.get_by_label("Days such as 4/3/1980 are")).to_have_value("DMY")
    bring_in(page, "Bring in 1 person")
    expect(page.get_by_role("heading", name="1 person came in")).to_be_visible()
    assert str(ImportantDate.unscoped.get().date) == "1980-03-04"


def test_without_a_network_the_file_waits_in_this_browser(web: Web) -> None:
    context = web.context()
    page = web.open("/import", context)
    web.synced(page)
    web.chromium.complaints.expected.append("ERR_INTERNET_DISCONNECTED")
    context.set_offline(True)
    choose(page, file("phone.vcf", CARDS))
    expect(page.get_by_text("The file is kept in this browser until there is one.")).to_be_visible()
    page.get_by_role("button", name="Back").click()
    expect(page.get_by_role("region", name="Files that wait")).to_contain_text("phone.vcf")
    context.set_offline(False)
    page.reload()
    page.get_by_role("button", name="Look at them").click()
    bring_in(page)
    expect(page.get_by_role("heading", name="2 people came in")).to_be_visible()
    page.goto("/app/import")
    expect(page.get_by_role("heading", name="Imports so far")).to_be_visible()
    expect(page.get_by_role("region", name="Files that wait")).to_have_count(0)


def test_a_file_that_waits_goes_with_the_sign_out(web: Web) -> None:
    context = web.context()
    page = web.open("/import", context)
    web.synced(page)
    web.chromium.complaints.expected.extend(["ERR_INTERNET_DISCONNECTED", "status of 401"])
    context.set_offline(True)
    choose(page, file("phone.vcf", CARDS))
    expect(page.get_by_text("The file is kept in this browser until there is one.")).to_be_visible()
    context.set_offline(False)
    page.goto("/app/account")
    page.get_by_role("button", name="Sign out").last.click()
    page.get_by_role("dialog").get_by_role("button", name="Sign out").last.click()
    expect(page).to_have_url(f"{web.base}/app/sign-in")
    assert page.evaluate("indexedDB.databases()") == []


def test_a_table_that_is_pasted_on_any_page_comes_in(web: Web) -> None:
    page = web.open("/dates")
    page.evaluate(PASTE, "Monday\tTuesday\n1\t2")
    page.evaluate(PASTE, "Name\tPhone\nAda\t+44 20 7946 0000")
    bring_in(page, "Bring in 1 person")
    expect(page.get_by_role("heading", name="1 person came in")).to_be_visible()
    assert people().get().name == "Ada"


def test_a_file_that_is_too_large_is_said_in_words(web: Web, settings: Any) -> None:
    settings.MAX_VCARD_BYTES = 100
    web.chromium.complaints.expected.append("status of 413")
    page = web.open("/import")
    choose(page, file("phone.vcf", CARDS))
    expect(page.get_by_text("phone.vcf is too large. Save it without photos, or in several files.")).to_be_visible()


def test_how_a_table_is_written_is_asked_where_it_cannot_be_seen(web: Web) -> None:
    page = web.open("/import")
    choose(page, file("people.csv", "name,surname\n\u0130brahim,Ta\u015f\n".encode("cp1254")))
    page.get_by_label("How its letters are written").select_option(label="ğ ı ş (Windows-1254)")
    expect(page.get_by_text("\u0130brahim Ta\u015f")).to_be_visible()


def test_columns_are_said_by_hand(web: Web) -> None:
    """A column that nothing is known of is a number once its user says so; what is understood stays."""
    page = web.open("/import", web.context(**DESK))
    choose(page, file("people.csv", "Aaa,Bbb,surname\nAda,12,Lovelace\nBob,13,Builder\n"))
    page.get_by_text("What its columns are").click()
    expect(page.get_by_label("surname")).to_have_value("surname")
    expect(page.get_by_label("Bbb")).to_have_value("ignore")
    page.get_by_label("Aaa").select_option(label="Given name")
    expect(page.get_by_label("Aaa")).to_have_value("name")
    page.get_by_label("Bbb").select_option(label="Phone (Work)")
    expect(page.get_by_label("Bbb")).to_have_value("phone:work")
    assert violations(page) == []
    bring_in(page)
    expect(page.get_by_role("heading", name="2 people came in")).to_be_visible()
    ada = people().get(name="Ada")
    assert (ada.surname, [(row["type"], row["number"]) for row in ada.phone_numbers]) == ("Lovelace", [("work", "12")])


def test_somebody_of_the_same_name_is_pointed_at_and_can_be_joined(web: Web, alice: User) -> None:
    known = make_person(alice, name="Ada", surname="Lovelace")
    page = web.open("/import", web.context(**DESK))
    web.synced(page)
    choose(page, file("phone.vcf", CARDS))
    expect(page.get_by_role("link", name="same person?")).to_have_attribute("href", f"/app/people/{known.pk}")
    bring_in(page)
    page.get_by_role("link", name="Compare: Ada Lovelace").click()
    page.get_by_role("button", name="Join them").click()
    web.eventually(page, lambda: people().filter(name="Ada").count() == 1)


def test_the_address_of_a_server_is_filled_in(web: Web) -> None:
    page = web.open("/import")
    page.get_by_role("button", name="iCloud").click()
    page.get_by_role("link", name="Address book on a server").click()
    expect(page.get_by_label("Address of the server")).to_have_value("https://contacts.icloud.com")


def test_the_export_of_an_account_has_its_own_page(web: Web) -> None:
    page = web.open("/import")
    choose(page, file("account.json", '{"format": "contact-network", "version": 1}'))
    page.get_by_role("link", name="Your data").last.click()
    expect(page).to_have_url(f"{web.base}/app/account/data")


def test_how_far_it_is_may_be_left_and_today_tells_the_end(web: Web) -> None:
    context = web.context()
    web.chromium.complaints.expected.append("status of 404")  # asked for before the file has arrived
    held: list[Route] = []
    watch_with(context, held)
    page = web.open("/import", context)
    choose(page, file("phone.vcf", CARDS))
    bring_in(page)
    expect(page.get_by_role("heading", name="People are coming in")).to_be_visible()
    expect(page.get_by_text("1,200 of 8,000")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("link", name="Today").first.click()
    expect(page.get_by_text("People are coming in: 1,200 of 8,000.")).to_be_visible()
    context.unroute("**/api/imports/*")
    context.unroute("**/api/batch")
    held[0].continue_()
    expect(page.get_by_role("status").filter(has_text="2 people came in")).to_be_visible()
    page.reload()
    expect(page.get_by_role("region", name="Import")).to_contain_text("2 people came in.")
    page.get_by_role("region", name="Import").get_by_role("link", name="Show").click()
    expect(page.get_by_role("heading", name="2 people came in")).to_be_visible()


def watch_with(context: BrowserContext, held: list[Route]) -> None:
    """The import is held, and the service says that it has read 1,200 of 8,000."""

    def hold(route: Route) -> None:
        if b"dryRun" in (route.request.post_data_buffer or b""):
            route.continue_()
        else:
            held.append(route)

    context.route("**/api/vcard/import", hold)
    running = {"id": "1", "state": "running", "done": 1_200, "total": 8_000, "imported": 0, "endedAt": None}
    context.route("**/api/imports/*", lambda route: route.fulfill(json=running))

    def batch(route: Route) -> None:
        if "/api/imports/" in (route.request.post_data or ""):
            route.fulfill(json={"results": [{"status": 200, "body": running}]})
        else:
            route.continue_()

    context.route("**/api/batch", batch)


def test_the_limits_of_the_plan_are_said_once_for_all(web: Web, settings: Any) -> None:
    set_plan_limits(settings, people=4, groups=10, reminders=1, templates=1)
    cards = "".join(
        f"BEGIN:VCARD\nVERSION:3.0\nFN:Person {number}\nBDAY:1990-01-0{number}\nEND:VCARD\n" for number in range(1, 7)
    )
    page = web.open("/import")
    choose(page, file("phone.vcf", cards))
    expect(page.get_by_text("4 people found · nothing is written yet")).to_be_visible()
    page.get_by_role("switch").check()
    bring_in(page, "Bring in 4 people")
    limits = page.get_by_role("listitem").filter(has_text="Your plan allows")
    expect(limits).to_have_count(2)
    expect(limits.filter(has_text="reminder")).to_contain_text("3 people")
    expect(limits.filter(has_not_text="reminder")).to_contain_text("2 people")
    expect(page.get_by_text("1 day will be remembered.")).to_be_visible()
