"""The map: the places of the service, by town, clusters, tiles only of the operator, addresses to repair."""

import base64
import re
from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from contacts_project.kernel.api.responses import content_security_policy
from people.models import Person
from tests.builders import make_person
from tests.client import Client
from tests.loopback import Recorder, Reply, recording_server
from tests.web.conftest import Web
from tests.web.test_accessibility import violations

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

_PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
BERLIN, LONDON = (52.52, 13.4), (51.507, -0.138)


def address(street: str, town: str, at: tuple[float, float] | None, status: str = "done") -> dict[str, Any]:
    """An address as the geocoder leaves it."""
    entry = {"id": str(uuid4()), "type": "home", "streetLine1": street, "streetLine2": None, "locality": town}
    entry |= {"region": None, "country": None, "postalCode": None, "geocodeStatus": status}
    return {**entry, "latitude": at and at[0], "longitude": at and at[1]}


@pytest.fixture
def people(alice: User) -> dict[str, Person]:
    """Ada and Ben in one house in London, Cid in Berlin, Dan at a location, Eve at an address that was not found."""
    house = address("St James's Square 12", "London", LONDON)
    spree = {"id": str(uuid4()), "type": "cabin", "label": "Cabin", "latitude": 60.5, "longitude": 8.25}
    addresses: dict[str, dict[str, Any]] = {
        "Ada": {"addresses": [house]},
        "Ben": {"addresses": [house]},
        "Cid": {"addresses": [address("Unter den Linden 1", "Berlin", BERLIN)]},
        "Dan": {"locations": [spree]},
        "Eve": {"addresses": [address("Nowhere 1", "Atlantika", None, "failed")]},
        "Fay": {"addresses": [address("Quiet 1", "London", LONDON)], "quiet": True},
    }
    alice.geocoding_enabled = True
    alice.save()
    return {name: make_person(alice, name=name, **fields) for name, fields in addresses.items()}


def open_map(web: Web, **options: Any) -> Page:
    page = web.open("/map", web.context(**options))
    web.synced(page)
    expect(page.locator(".leaflet-container")).to_be_visible()
    return page


def test_places_are_those_of_the_service(web: Web, people: dict[str, Person], elsewhere: Client) -> None:
    answer = elsewhere.ok("GET", "/api/map/markers")
    foreign: list[str] = []
    page = web.context().new_page()
    page.on("request", lambda request: foreign.append(request.url) if not request.url.startswith(web.base) else None)
    page.goto(f"{web.base}/app/map")
    web.synced(page)
    placed = {marker["personId"] for marker in answer["markers"]}
    # The towns that the service found, and those that addresses name.
    towns = {marker["town"]["name"] for marker in answer["markers"] if marker["town"]} | {"Berlin", "London"}
    expect(page.get_by_text(f"{len(placed)} people · {len(towns)} towns")).to_be_visible()
    rows = page.get_by_role("grid", name="People by town").get_by_role("row")
    for town in towns:
        expect(rows.filter(has_text=town)).to_be_visible()
    assert len(answer["unknown"]) == answer["failedCount"] == 1
    expect(page.get_by_text("1 address without a known town")).to_be_visible()
    # Quiet people are not on the map, and without tiles nothing comes from elsewhere.
    expect(page.get_by_text("Fay")).to_have_count(0)
    expect(page.locator("path.map-land").first).to_be_attached()
    assert foreign == []
    assert violations(page) == []


def test_towns_and_people_are_shown_on_the_map(web: Web, people: dict[str, Person]) -> None:
    page = open_map(web)
    expect(page.locator(".map-marker")).to_have_count(3)
    # All stay in sight when the window becomes that of a phone.
    page.set_viewport_size({"width": 390, "height": 844})
    for marker in page.locator(".map-marker button").all():
        expect(marker).to_be_in_viewport(ratio=1)
    page.set_viewport_size({"width": 1280, "height": 720})
    rows = page.get_by_role("grid", name="People by town").get_by_role("row")
    chosen = page.get_by_role("region", name="Chosen")
    rows.filter(has_text="Berlin").get_by_role("button").click()
    expect(chosen.get_by_role("link", name="Cid")).to_be_visible()
    expect(page.get_by_role("button", name="Cid: Unter den Linden 1, Berlin")).to_be_in_viewport()
    rows.filter(has_text="London").get_by_role("button").click()
    expect(chosen.get_by_role("link", name="Ada")).to_be_visible()
    chosen.get_by_role("button", name="Close").click()
    expect(chosen).to_have_count(0)
    # They live in one house: one marker names both.
    page.get_by_role("button", name="London: 2 people").click()
    expect(chosen.get_by_role("link", name="Ada")).to_be_visible()
    expect(chosen.get_by_role("link", name="Ben")).to_be_visible()
    assert violations(page) == []
    chosen.get_by_role("link", name="Ben").click()
    expect(page.get_by_role("heading", name="Ben", level=1)).to_be_visible()


def test_all_of_a_town_are_written_to_and_its_clock_is_shown(
    web: Web, people: dict[str, Person], elsewhere: Client
) -> None:
    for name in ("Ada", "Ben"):
        path = f"/api/people/{people[name].pk}"
        elsewhere.ok("PUT", path, {"emails": [{"email": f"{name.lower()}@example.org"}]})
    elsewhere.ok("PUT", "/api/user/timezone", {"timezone": "Asia/Tokyo"})
    page = open_map(web)
    town = page.get_by_role("grid", name="People by town").get_by_role("row", name="London")
    expect(town).to_contain_text(re.compile(r"Ada and Ben · \d+:\d\d( [ap]m)? there"))
    town.get_by_role("button").click()
    mail = page.get_by_role("region", name="Chosen").get_by_role("link", name="Write to all")
    expect(mail).to_have_attribute("href", "mailto:?bcc=ada%40example.org,ben%40example.org")


def test_one_place_is_shown_with_the_land_around(web: Web, alice: User) -> None:
    make_person(alice, name="Ines", addresses=[address("Rua 1", "Porto", (41.15, -8.61))])
    page = open_map(web)
    expect(page.locator(".map-marker")).to_have_count(1)
    land = page.locator("path.map-land").first
    expect(land).to_be_attached()
    box, picture = land.bounding_box(), page.locator(".leaflet-container").bounding_box()
    assert box
    assert picture
    assert box["width"] > picture["width"]  # the continent, not a corner of it
    assert box["width"] < 100 * picture["width"]


def test_offline_towns_are_those_of_the_last_answer(web: Web, alice: User) -> None:
    web.chromium.complaints.expected += ["ERR_INTERNET_DISCONNECTED", "Failed to fetch"]
    make_person(alice, name="Ines", addresses=[address("Rua 1", "Porto", None)])
    context = web.context()
    page = web.open("/map", context)
    web.synced(page)
    expect(page.locator(".map-marker")).to_have_count(1)
    page.get_by_role("navigation").get_by_role("link", name="People").click()
    context.set_offline(True)
    page.get_by_role("navigation").get_by_role("link", name="Map").click()
    expect(page.locator(".map-marker")).to_have_count(1)
    expect(page.get_by_text("1 person · 1 town")).to_be_visible()
    context.set_offline(False)


def test_address_that_was_not_found_leads_to_its_form(web: Web, people: dict[str, Person]) -> None:
    page = open_map(web)
    page.get_by_text("1 address without a known town").click()
    page.get_by_role("link", name="Correct the address of Eve").click()
    street = page.get_by_label("Street")
    expect(street).to_have_value("Nowhere 1")
    street.fill("Somewhere 2")
    page.get_by_role("button", name="Save").click()
    web.eventually(page, lambda: Person.unscoped.get(pk=people["Eve"].pk).addresses[0]["streetLine1"] == "Somewhere 2")


def test_list_is_by_town_and_by_keyboard(web: Web, people: dict[str, Person]) -> None:
    page = open_map(web)
    rows = page.get_by_role("grid", name="People by town").get_by_role("row")
    expect(rows.first).to_have_text("In view")
    expect(rows.nth(1)).to_contain_text("London")  # with most people
    rows.first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Cid: Unter den Linden 1, Berlin")).to_be_in_viewport()
    page.get_by_label("Town or person").fill("ben")
    expect(rows).to_have_count(2)
    expect(rows.nth(1)).to_contain_text("London")


def test_group_is_the_address(web: Web, people: dict[str, Person], elsewhere: Client) -> None:
    group = elsewhere.ok("POST", "/api/groups", {"name": "Engines"}, status=201)["group"]["id"]
    elsewhere.ok("PUT", f"/api/people/{people['Cid'].pk}", {"groupIds": [group]})
    page = open_map(web)
    page.get_by_role("button", name="Engines").click()
    expect(page.locator(".map-marker")).to_have_count(1)
    assert f"group={group}" in page.url


def test_tiles_come_from_the_operators_server(web: Web, people: dict[str, Person], settings: Any) -> None:
    with recording_server() as server:
        server.reply = Reply(headers={"Content-Type": "image/png"}, body=_PIXEL)
        # By another name than the instance, as browsers send cookies to all ports of a host.
        settings.MAP_TILES_URL = f"http://localhost:{server.port}/tiles/{{z}}/{{x}}/{{y}}.png"
        settings.MAP_TILES_ATTRIBUTION = "© Mappers <script>"
        settings.CONTENT_SECURITY_POLICY = content_security_policy(settings.MAP_TILES_URL)
        page = open_map(web)
        expect(page.locator("img.leaflet-tile-loaded").first).to_be_attached()
        expect(page.get_by_text("© Mappers <script>")).to_be_visible()
        expect(page.locator("path.map-land")).to_have_count(0)
        assert_only_the_origin_is_told(server, web)
        assert violations(page) == []


def assert_only_the_origin_is_told(server: Recorder, web: Web) -> None:
    assert server.received
    for request in server.received:
        assert request.path.startswith("/tiles/")
        assert request.headers["referer"] == f"{web.base}/"
        assert "cookie" not in request.headers


def test_address_without_a_place_stands_in_its_town(web: Web, alice: User) -> None:
    make_person(alice, name="Ines", addresses=[address("Rua 1", "Porto", None)])
    make_person(alice, name="Otto", addresses=[address("Weg 1", "Neverwhere", None)])
    page = open_map(web)
    expect(page.locator(".map-marker")).to_have_count(1)
    page.get_by_role("grid", name="People by town").get_by_role("row", name="Porto").get_by_role("button").click()
    expect(page.get_by_role("region", name="Chosen").get_by_role("link", name="Ines")).to_be_visible()
    expect(page.get_by_text("1 address without a known town")).to_be_visible()
    expect(page.get_by_text("Towns: GeoNames (CC BY 4.0).")).to_be_visible()
    assert violations(page) == []
