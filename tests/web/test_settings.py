"""Settings are one place: a list with a search, whose lines say how things stand."""

import pytest
from playwright.sync_api import Route, expect

from accounts.models import User
from tests.web.conftest import Web

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

PHONE = {"width": 390, "height": 844}


def test_the_list_says_how_things_stand(web: Web) -> None:
    web.owner.name = "Alice"
    web.owner.save()
    page = web.open("/settings", web.context(viewport=PHONE))
    settings = page.get_by_role("navigation", name="Settings")
    expect(settings.get_by_role("link", name="You Alice")).to_be_visible()
    expect(settings.get_by_role("link", name="Phones and computers None connected")).to_be_visible()
    expect(settings.get_by_role("link", name="Address book on a server Not connected")).to_be_visible()
    settings.get_by_role("searchbox", name="Find a setting").fill("quiet")
    expect(settings.get_by_role("link")).to_have_count(1)
    settings.get_by_role("link", name="Reminders").click()
    expect(page).to_have_url(f"{web.base}/app/notifications")


def test_a_change_is_saved_as_it_is_made_and_undone_within_a_dialog(web: Web) -> None:
    """Messages stand in the dialog that is open, since what is outside of it cannot be pressed."""
    page = web.open("/account/preferences")
    web.synced(page)
    page.get_by_label("Order of names").select_option("EASTERN")
    web.eventually(page, lambda: User.objects.get(pk=web.owner.pk).name_order == "EASTERN")
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("?")
    page.get_by_role("dialog").get_by_role("button", name="Undo").click()
    web.eventually(page, lambda: User.objects.get(pk=web.owner.pk).name_order == "WESTERN")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    # Ctrl Z takes back one after the other; only the last of the messages is shown.
    for name, value in (("Order of names", "EASTERN"), ("How dates are written", "DMY")):
        page.evaluate("document.querySelector('.toast')?.setAttribute('data-left', '')")
        page.get_by_label(name, exact=True).select_option(value)
        # Its message looks like the one before.
        expect(page.locator(".toast:not([data-left])")).to_be_visible()
    web.eventually(page, lambda: User.objects.get(pk=web.owner.pk).date_format == "DMY")
    expect(page.get_by_role("button", name="Undo")).to_have_count(1)
    page.evaluate("document.activeElement.blur()")
    with page.expect_response(lambda response: response.request.method == "PUT"):
        page.keyboard.press("Control+z")
    web.eventually(page, lambda: User.objects.get(pk=web.owner.pk).date_format != "DMY")
    page.keyboard.press("Control+z")
    web.eventually(page, lambda: User.objects.get(pk=web.owner.pk).name_order == "WESTERN")
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)


def test_messages_stay_for_ten_seconds_while_looked_at_or_for_two_minutes(web: Web) -> None:
    page = web.open("/account/preferences")
    web.synced(page)
    undo = page.get_by_role("button", name="Undo")
    longer = page.get_by_role("switch", name="Messages stay for two minutes")
    expect(longer).to_be_checked()
    page.clock.install()
    page.get_by_label("Order of names").select_option("EASTERN")
    expect(undo).to_be_visible()
    page.clock.fast_forward(100_000)
    expect(undo).to_be_visible()
    page.clock.fast_forward(20_000)
    expect(undo).to_have_count(0)
    longer.uncheck()
    page.get_by_label("Order of names").select_option("WESTERN")
    undo.focus()
    page.clock.fast_forward(30_000)
    expect(undo).to_be_focused()
    undo.blur()
    page.clock.fast_forward(10_000)
    expect(undo).to_have_count(0)


def test_a_name_is_saved_when_its_field_is_left(web: Web) -> None:
    page = web.open("/account")
    web.synced(page)
    page.get_by_label("Surname").fill("Liddell")
    page.get_by_label("Surname").blur()
    web.eventually(page, lambda: User.objects.get(pk=web.owner.pk).surname == "Liddell")
    page.get_by_role("button", name="Undo").click()
    web.eventually(page, lambda: not User.objects.get(pk=web.owner.pk).surname)


def test_the_list_stands_beside_its_pages_on_a_desk(web: Web) -> None:
    page = web.open("/settings", web.context(viewport={"width": 1280, "height": 900}))
    expect(page.get_by_role("heading", name="Phones and computers", level=1)).to_be_visible()
    settings = page.get_by_role("navigation", name="Settings")
    settings.get_by_role("link", name="Reminders").click()
    expect(page.get_by_role("heading", name="Reminders", level=1)).to_be_visible()
    expect(settings.locator("[aria-current=page]")).to_contain_text("Reminders")


def test_the_deletion_of_the_account_says_that_it_is_under_way(web: Web) -> None:
    web.chromium.complaints.expected += ["status of 400", "ERR_FAILED"]
    page = web.open("/account/data")
    web.synced(page)
    held: list[Route] = []
    page.route("**/api/user/delete", lambda route: held.append(route))  # noqa: PLW0108 - wants a function
    page.get_by_label("Password").fill("wrong")
    page.get_by_label("Type DELETE").fill("DELETE")
    delete = page.get_by_role("button", name="Delete the account")
    delete.click()
    expect(page.get_by_text("Everything is being deleted.")).to_be_visible()
    expect(delete).to_be_disabled()
    held.pop().fulfill(status=400, json={"error": "No.", "details": [{"field": "password", "message": "Wrong."}]})
    expect(page.get_by_text("Wrong.")).to_be_visible()
    delete.click()
    expect(page.get_by_text("Wrong.")).to_have_count(0)
    held.pop().abort()
