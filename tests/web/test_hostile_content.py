"""Nothing that an address or a record holds makes a blank page; what fails nevertheless says what is wrong."""

from uuid import uuid4

import pytest
from playwright.sync_api import Page, Route, expect

from accounts.models import User
from tests.builders import make_person
from tests.web.conftest import Web, follow

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

NOTES = {
    "italic by the thousand": "*a*" * 3000,
    "bold by the thousand": "**a**" * 2000,
    "alternating": "*a*_b_`c`" * 1000,
    "unclosed": "*_**__`[" * 1200,
    "nested": "**__*_" * 1600 + "x" + "_*__**" * 10,
    "only marks": "*" * 10_000,
    "brackets": "[" * 10_000,
    "links": "[a](b)" * 1600,
    "addresses": "https://....." * 700,
    "broken addresses": "[a](http://[) https://%zz [x](javascript:alert(1))" * 100,
    "lists": "- a\n" * 2500,
    "quotes": ">" * 10_000,
    "headings": "# " * 5000,
    "blocks": "a\n\n" * 3300,
    "one word": "a" * 10_000,
    "combining marks": "a" + "\u0301" * 9000,
    "lone surrogates and controls": "\u202e\u0007\ufffd" * 3000,
}
PATHS = [
    "/%",
    "/%/%",
    "/people/%",
    "/people/%E0%A4%A",
    "/people/%/family",
    "/people/%/network",
    "/groups/%",
    "/groups/%FF",
    "/people?q=%25&sort=%zz&order=%&only=x,,%E0&group=%,none&favouritesFirst=maybe&import=%",
    "/people?sort=__proto__&only=constructor&order=toString",
    "/people?only=__proto__",
    "/people?only=toString,hasOwnProperty,due&group=00000000-0000-4000-8000-000000000000&view=__proto__",
    "/people?group=__proto__&sort=constructor&view=table",
    "/log?person=%&people=%,&kind=__proto__&date=nonsense&group=%",
    "/dates?month=99&year=NaN&view=%&kind=__proto__",
    "/dates/new?person=%&type=__proto__&date=31-31-31",
    "/network?group=%&person=%&steps=99999&mode=__proto__",
    "/map?lat=NaN&lon=%&zoom=1e999&q=%",
    "/duplicates/compare?ids=%,%&one=%&other=%&first=%&second=%",
    "/import?id=%&import=%",
    "/trash?type=__proto__&kind=%",
    "/letters?group=%&only=%&occasion=__proto__",
    "/carddav/conflicts?id=%",
    "/sign-in?next=%&refused=__proto__",
    "/sign-in?next=/%",
    "/sign-in?next=//example.org/%",
    "/unsent#%",
    "//",
    "/people/" + "a" * 1500,
    "/" + "a/" * 600,
]


def is_shown(page: Page) -> None:
    expect(page.locator("h1").first).to_be_visible()
    expect(page.locator("h1").first).not_to_be_empty()
    expect(page.get_by_role("heading", name="This page cannot be shown")).to_have_count(0)


@pytest.mark.parametrize("text", NOTES.values(), ids=NOTES.keys())
def test_no_note_makes_a_blank_page(web: Web, alice: User, text: str) -> None:
    ada = make_person(alice, name="Ada", notes=text[:10_000])
    page = web.open(f"/people/{ada.pk}")
    is_shown(page)
    expect(page.get_by_role("heading", name="Ada")).to_be_visible()
    expect(page.locator(".notes")).to_be_attached()
    page.get_by_role("link", name="People").first.click()
    expect(page.get_by_role("row")).to_have_count(1)


def test_marks_are_still_read_in_their_order(web: Web, alice: User) -> None:
    text = "a *b* c **d _e_ f** `*g*` [h](https://example.org/) https://example.org/i. j"
    page = web.open(f"/people/{make_person(alice, name='Ada', notes=text).pk}")
    shown = page.locator(".notes").inner_html()
    assert shown == (
        "<p>a <em>b</em> c <strong>d <em>e</em> f</strong> <code>*g*</code> "
        '<a href="https://example.org/" target="_blank" rel="noreferrer">h</a> '
        '<a href="https://example.org/i" target="_blank" rel="noreferrer">https://example.org/i</a>. j</p>'
    )


def test_no_address_makes_a_blank_page(web: Web, alice: User) -> None:
    make_person(alice, name="Ada")
    web.chromium.complaints.expected.append("status of 40[04]")
    page = web.open("/people")
    blank = []
    for path in PATHS:
        # By the router, as a link leads there, and loaded anew, if the service takes the address.
        try:
            follow(page, path)
            is_shown(page)
            if page.request.get(f"{web.base}/app{path}").ok:
                page.goto(f"{web.base}/app{path}")
                is_shown(page)
        except AssertionError:
            blank.append(path)
            page.goto(f"{web.base}/app/people")
    assert blank == []


def test_filter_of_no_known_name_keeps_everybody(web: Web, alice: User) -> None:
    make_person(alice, name="Ada")
    page = web.open("/people?only=toString,__proto__")
    expect(page.get_by_role("link", name="Ada")).to_be_visible()
    expect(page.get_by_role("button", name="All", exact=True)).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("button", name="Without the filter")).to_have_count(0)


@pytest.mark.parametrize(
    "lists",
    [
        [{"name": "<b>x</b>", "query": "only=__proto__&group=%&sort=constructor"}],
        [{"name": "\u202ea" * 20, "query": "q=" + "%E0" * 60}, {"name": "https://x", "query": "//example.org/?a#b"}],
    ],
)
def test_no_kept_list_makes_a_blank_page(web: Web, alice: User, lists: list[dict[str, str]]) -> None:
    make_person(alice, name="Ada")
    User.objects.filter(pk=alice.pk).update(saved_lists=lists)
    page = web.open("/people")
    for entry in lists:
        page.get_by_role("link", name=entry["name"], exact=True).click()
        is_shown(page)
        assert page.url.startswith(web.base)


def test_markup_is_a_name_like_any_other(web: Web, alice: User) -> None:
    name = "<img src=x onerror=alert(1)> &amp; <b>Ada</b>"
    ada = make_person(alice, name=name, urls=[{"id": str(uuid4()), "type": "web", "url": "https://example.org/"}])
    for path in ("/people", f"/people/{ada.pk}", "/", "/network", "/map", "/dates", f"/log?person={ada.pk}"):
        page = web.open(path)
        is_shown(page)
        assert page.locator("main img[src=x], aside img[src=x]").count() == 0
    expect(page.get_by_text(name)).to_be_visible()


def test_page_that_fails_says_what_is_wrong_and_the_others_go_on(web: Web, alice: User) -> None:
    for name in ("Ada", "Ben"):
        make_person(alice, name=name)
    web.chromium.complaints.expected.append("TypeError")
    context = web.context()
    context.route("**/api/changes?*", break_a_record)
    page = web.open("/people", context)
    page.get_by_role("link", name="Ada").click()
    expect(page.get_by_role("heading", name="This page cannot be shown")).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text("TypeError")
    page.get_by_role("link", name="Go to the people").click()
    page.get_by_role("link", name="Ben").click()
    expect(page.get_by_role("heading", name="Ben")).to_be_visible()
    context.unroute_all(behavior="ignoreErrors")  # an answer that comes after the test would fail the next one


def break_a_record(route: Route) -> None:
    """What no version of the service sends: a person whose further properties are no list."""
    response = route.fetch()
    body = response.json()
    for change in body["changes"]:
        if change["type"] == "person" and change["record"]["name"] == "Ada":
            change["record"]["more"] = {"length": 1}
    route.fulfill(response=response, json=body)
