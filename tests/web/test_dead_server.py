"""A service that is slow, or refuses connections while the browser thinks that there is a network."""

from contextlib import suppress

import pytest
from playwright.sync_api import Error, Route, expect

from people.models import Person
from tests.web.conftest import Web

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

API = "**/api/**"


class SlowService:
    """Lets requests hang until it is told to answer."""

    def __init__(self) -> None:
        self.held: list[Route] = []

    def __call__(self, route: Route) -> None:
        self.held.append(route)

    def answer(self) -> None:
        for route in self.held:
            with suppress(Error):  # the page may have given up on it
                route.continue_()


class DeadService(SlowService):
    """Refuses the first connection for each address. Further ones hang, so that nothing can come of trying again."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: set[str] = set()

    def __call__(self, route: Route) -> None:
        if route.request.url in self.asked:
            super().__call__(route)
        else:
            self.asked.add(route.request.url)
            route.abort("connectionrefused")


def test_waiting_is_shown_while_an_answer_takes_its_time(web: Web) -> None:
    page = web.open("/people")
    web.synced(page)
    service = SlowService()
    page.route("**/api/notifications/**", service)
    page.goto(f"{web.base}/app/notifications")
    waiting = page.get_by_role("progressbar", name="Waiting for the server")
    expect(waiting).to_be_visible()
    page.unroute("**/api/notifications/**")
    service.answer()
    expect(waiting).to_have_count(0)
    expect(page.get_by_role("main")).to_contain_text("alice@example.org")


def test_the_first_refused_connection_is_said_where_a_page_asks(web: Web) -> None:
    web.chromium.complaints.expected.append("ERR_CONNECTION_REFUSED")
    page = web.open("/people")
    web.synced(page)
    service = DeadService()
    page.route(API, service)
    page.goto(f"{web.base}/app/trash")
    expect(page.locator(".banners")).to_contain_text("The server does not answer.")
    expect(page.get_by_role("alert")).to_contain_text("There is no connection to the service.")
    page.unroute(API)
    service.answer()
    expect(page.locator(".banners")).not_to_contain_text("The server does not answer.")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_the_first_refused_connection_is_said_after_a_save(web: Web) -> None:
    web.chromium.complaints.expected.append("ERR_CONNECTION_REFUSED")
    page = web.open("/people/new")
    web.synced(page)
    service = DeadService()
    page.route(API, service)
    page.get_by_label("Given name").fill("Ada")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".banners")).to_contain_text("1 change is saved here and not sent yet.")
    page.unroute(API)
    service.answer()
    web.eventually(page, Person.unscoped.filter(name="Ada").exists)
    expect(page.locator(".banners")).not_to_contain_text("The server does not answer.")
