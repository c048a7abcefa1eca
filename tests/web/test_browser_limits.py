"""What a browser refuses or ends: storage, a subscription to push, the network while a notification is answered."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, Route, Worker, expect

from accounts.models import User
from people.models import Person
from tests.builders import make_person
from tests.web.conftest import Web

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

REFUSED_STORAGE = """
IDBFactory.prototype.open = () => { throw new DOMException("refused", "SecurityError"); };
"""


def test_a_client_that_has_started_does_not_say_that_it_has_not(web: Web) -> None:
    page = web.open("/people")
    expect(page.get_by_text("The client has not started.")).to_have_count(0)


def test_without_storage_the_client_works_and_says_what_is_missing(web: Web, alice: User) -> None:
    make_person(alice, name="Ada")
    context = web.context()
    context.add_init_script(REFUSED_STORAGE)
    page = web.open("/people/new", context)
    expect(page.locator(".banners")).to_contain_text("This browser keeps nothing here")
    web.synced(page)
    page.get_by_label("Given name").fill("Ben")
    page.get_by_role("button", name="Save", exact=True).click()
    web.eventually(page, Person.unscoped.filter(name="Ben").exists)
    page.goto(f"{web.base}/app/people")
    expect(page.get_by_role("row")).to_have_count(2)


def test_without_storage_one_can_sign_in_and_out(web: Web) -> None:
    web.chromium.complaints.expected.append("status of 401")
    context = web.visitor()
    context.add_init_script(REFUSED_STORAGE)
    page = web.open("/settings", context)
    page.get_by_label("E-mail").fill(web.owner.email)
    page.get_by_label("Password").fill("Analytical-1843")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Sign out").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_action_pressed_without_a_network_is_sent_later(web: Web) -> None:
    web.chromium.complaints.expected.append("ERR_INTERNET_DISCONNECTED")
    web.chromium.complaints.expected.append("ERR_FAILED")
    context = web.context(service_workers="allow")
    page = web.open("/people", context)
    web.synced(page)
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    worker = next(each for each in context.service_workers if each.url.endswith("/app/sw.js"))
    context.set_offline(True)
    press(worker, f"{web.base}/api/actions/none")
    assert kept(page) == [f"{web.base}/api/actions/none"]
    context.set_offline(False)
    web.eventually(page, lambda: kept(page) == [])


def press(worker: Worker, link: str) -> None:
    """Press the action of a notification, by an event that scripts can make."""
    worker.evaluate(
        """async (action) => {
          let work;
          const notification = { close: () => undefined };
          const waitUntil = (promise) => (work = promise);
          self.dispatchEvent(Object.assign(new Event("notificationclick"), { action, notification, waitUntil }));
          await work;
        }""",
        link,
    )


def kept(page: Page) -> list[str]:
    urls: list[str] = page.evaluate(
        "caches.open('actions').then((cache) => cache.keys()).then((keys) => keys.map(({ url }) => url))"
    )
    return urls


FAKE_PUSH = """if (location.protocol.startsWith("http")) {
window.subscribed = [];
const fake = {
  subscription: null,
  async getSubscription() { return this.subscription; },
  async subscribe({ applicationServerKey }) {
    window.subscribed.push(applicationServerKey);
    const endpoint = "https://push.example/" + window.subscribed.length;
    return { endpoint, toJSON: () => ({ endpoint, keys: { p256dh: "p", auth: "a" } }) };
  },
};
if (localStorage.getItem("old key")) {
  const bytes = Uint8Array.from(JSON.parse(localStorage.getItem("old key"))).buffer;
  const endpoint = "https://push.example/old";
  const unsubscribe = async () => (fake.subscription = null);
  fake.subscription = { endpoint, options: { applicationServerKey: bytes }, unsubscribe };
}
Object.defineProperty(ServiceWorkerRegistration.prototype, "pushManager", { get: () => fake });
ServiceWorkerContainer.prototype.getRegistration = async () => Object.create(ServiceWorkerRegistration.prototype);
Object.defineProperty(Notification, "permission", { get: () => "granted" });
}"""


@pytest.mark.parametrize(
    ("stored", "known", "renewed"),
    [
        ({}, [], []),  # never subscribed here
        ({"contacts push": "{id}"}, [], ["AQID"]),  # the browser has ended it
        ({"old key": "[1, 2, 3]"}, ["https://push.example/old"], []),  # all is well
        ({"old key": "[1, 2, 3]"}, [], ["AQID"]),  # the service has ended it
        ({"old key": "[3, 2, 1]"}, ["https://push.example/old"], ["AQID"]),  # the service has another key
    ],
)
def test_push_that_has_ended_comes_back(
    web: Web, alice: User, stored: dict[str, str], known: list[str], renewed: list[str]
) -> None:
    context = web.context()
    for name, value in stored.items():
        item = json.dumps(value.replace("{id}", str(alice.pk)))
        context.add_init_script(f"if (location.host) localStorage.setItem({json.dumps(name)}, {item})")
    context.add_init_script(FAKE_PUSH)
    sent: list[Any] = []

    def answer(route: Route) -> None:
        if route.request.method == "POST":
            sent.append(route.request.post_data)
        subscriptions = [{"id": "1", "endpoint": endpoint} for endpoint in known]
        route.fulfill(json={"publicKey": "AQID", "subscriptions": subscriptions, "success": True})

    context.route("**/api/notifications/push/**", answer)
    page = web.open("/people", context)
    web.synced(page)
    if renewed:
        web.eventually(page, lambda: len(sent) == len(renewed))
    else:
        page.wait_for_timeout(500)
    assert page.evaluate("window.subscribed") == renewed
