"""The ways in: the first screen, registration and sign-in, in the language of the browser and then of the account."""

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from tests.web.conftest import PASSWORD, Web

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]


def test_the_first_screen_leads_to_an_account_by_few_keys(web: Web) -> None:
    web.chromium.complaints.expected.append("status of 401")
    page = web.visitor().new_page()
    page.goto(f"{web.base}/")
    create, sign_in = page.get_by_role("link", name="Create an account"), page.get_by_role("link", name="Sign in")
    heights = [link.evaluate("link => link.getBoundingClientRect().height") for link in (create, sign_in)]
    assert heights[0] == heights[1] >= 44
    create.click()
    expect(page.get_by_label("Your name")).to_be_focused()
    for words in ("Grace", "grace@example.org", PASSWORD):
        page.keyboard.type(words)
        page.keyboard.press("Tab")
    page.get_by_label("Password").press("Enter")
    expect(page.get_by_role("heading", name="Today")).to_be_visible()


def test_the_rules_of_a_password_stay_and_say_what_is_missing(web: Web) -> None:
    web.chromium.complaints.expected += ["status of 401", "status of 400"]
    page = web.open("/register", web.visitor())
    password = page.get_by_label("Password")
    password.fill("passw")
    rules = page.locator(".password-rules li")
    assert [rule.get_attribute("class") for rule in rules.all()] == ["", "", "", ""]
    password.fill("Passw-123")
    assert [rule.get_attribute("class") for rule in rules.all()] == ["met", "met", "met", "met"]
    page.get_by_role("button", name="Show what is typed").click()
    expect(password).to_have_attribute("type", "text")
    page.get_by_label("Your name").fill("Grace")
    page.get_by_label("E-mail").fill("p@example.org")
    password.fill("password")
    page.get_by_role("button", name="Create an account").click()
    # What the service says of it stands beside them.
    expect(page.locator(".field .error")).to_contain_text("it still needs")
    expect(rules).to_have_count(4)


@pytest.mark.parametrize(
    ("locale", "lang", "create", "people"),
    [("de-DE", "de-DE", "Konto anlegen", "Personen"), ("ja-JP", "ja-JP", "アカウントを作成", "人")],
)
def test_all_is_in_the_language_of_the_browser_after_registering(
    web: Web, locale: str, lang: str, create: str, people: str
) -> None:
    web.chromium.complaints.expected.append("status of 401")
    page = web.open("/register", web.visitor(locale=locale))
    for field, words in (("name", "Grace"), ("email", "grace@example.org"), ("password", PASSWORD)):
        page.locator(f"input[name={field}]").fill(words)
    page.get_by_role("button", name=create).click()
    expect(page.locator("nav").first).to_be_visible()
    web.synced(page)
    expect(page.locator("html")).to_have_attribute("lang", lang)
    assert User.objects.get(email="grace@example.org").language == lang
    expect(page.get_by_role("link", name=people).first).to_be_visible()


def test_the_language_of_the_account_is_followed_without_a_reload(web: Web) -> None:
    """In a browser of another language, after signing in, and when it is changed elsewhere."""
    web.chromium.complaints.expected.append("status of 401")
    web.owner.language = "ja-JP"
    web.owner.save()
    page = web.open("/sign-in", web.visitor(locale="de-DE"))
    page.locator("input[name=email]").fill(web.owner.email)
    page.locator("input[name=password]").fill(PASSWORD)
    page.get_by_role("button", name="Anmelden").click()
    web.synced(page)
    expect(page.locator("html")).to_have_attribute("lang", "ja-JP")


def test_the_bare_address_leads_on_without_a_network(web: Web) -> None:
    web.chromium.complaints.expected.append("ERR_INTERNET_DISCONNECTED")
    context = web.context(service_workers="allow")
    page = web.open("/people", context)
    web.synced(page)
    wait_for_workers(page)
    context.set_offline(True)
    page.goto(f"{web.base}/")
    expect(page).to_have_url(f"{web.base}/app/")
    expect(page.locator("h1")).to_be_visible()


def wait_for_workers(page: Page) -> None:
    """Until that of the client has its files, and that of the bare address is there."""
    page.evaluate(
        """async () => {
          for (;;) {
            const all = await navigator.serviceWorker.getRegistrations();
            if (all.length === 2 && all.every(({ active }) => active?.state === "activated")) return;
            await new Promise((done) => setTimeout(done, 50));
          }
        }"""
    )
