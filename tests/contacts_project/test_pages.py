"""The HTML pages: the home page and that of a person, for links that are opened in a browser without a client app."""

import re
from typing import Any

import pytest
import time_machine
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import User
from accounts.services.profile import change_preferences
from contacts_project.operation.health import Health, check_health
from contacts_project.pages import home, network_diagram
from contacts_project.pages.network_diagram import RelatedPerson, build_diagram
from people.models import Person
from tests.builders import UNKNOWN_ID, make_person, make_user
from tests.client import Client, client_of

pytestmark = pytest.mark.sqlite_suffices

NOW = "2026-11-25T12:00:00Z"
ALL_FIELDS = {
    "name": "Ada<b>",
    "surname": "Lovelace",
    "nickname": "Countess",
    "jobTitle": "Analyst",
    "organization": "Engines & Co",
    "notes": "*Likes* <script>alert(1)</script>",
    "anniversary": "1835-07-08",
    "phoneNumbers": [{"type": "mobile", "number": "+44 (20) 1234"}, {"type": "x", "number": "n/a"}],
    "emails": [{"type": "home", "email": "ada@example.org"}],
    "urls": [{"type": "home", "url": "https://ada.example/?a=1&b=2"}, {"type": "bad", "url": "javascript:alert(1)"}],
    "addresses": [{"type": "work", "streetLine1": "St James's Sq 12", "locality": "London"}],
    "customFields": [{"key": "Blood group", "value": "0"}],
    "importantDates": [
        {"type": "BIRTHDAY", "date": "1988-12-09"},
        {"title": "Name <i>day</i>", "date": "1604-12-01", "yearUnknown": True},
    ],
}


def text_of(response: Any) -> str:
    """The page's HTML, after checking that a strict Content-Security-Policy allows everything in it."""
    html: str = response.content.decode()
    assert not re.search(r"<script|<style|\sstyle=|\son\w+=|<iframe", html)
    assert all(path.startswith("/") for path in re.findall(r'(?:src|<link[^>]* href)="([^"]*)"', html))
    return html


def person_page(signed_in: Client, person_id: object) -> str:
    response = signed_in.get(f"/people/{person_id}")
    assert response.status_code == 200
    return text_of(response)


@pytest.fixture
def ada(api: Client) -> str:
    person_id: str = api.ok("post", "/api/people", ALL_FIELDS, status=201)["person"]["id"]
    return person_id


def test_person_page_shows_all_fields_escaped(signed_in: Client, api: Client, ada: str) -> None:
    group = api.ok("post", "/api/groups", {"name": "Royal <Society>", "peopleIds": [ada]}, status=201)["group"]
    with time_machine.travel(NOW, tick=False):
        html = person_page(signed_in, ada)
    for text in (
        "<h1>Ada&lt;b&gt; &quot;Countess&quot; Lovelace</h1>",
        "Analyst, Engines &amp; Co",
        "*Likes* &lt;script&gt;alert(1)&lt;/script&gt;",
        'href="tel:+44201234"',
        'href="mailto:ada@example.org"',
        'href="https://ada.example/?a=1&amp;b=2"',
        "St James&#x27;s Sq 12<br>London",
        "<dt>Blood group</dt>",
        f'fill="{group["color"]}"/></svg>Royal &lt;Society&gt;',
        "1988-12-09<small>Wednesday, 9 December · in 14 days · turns 38</small>",
        "Name &lt;i&gt;day&lt;/i&gt;</dt>\n<dd>12-01<small>Tuesday, 1 December · in 6 days</small>",
        "1835-07-08",
    ):
        assert text in html
    assert 'href="javascript' not in html
    assert 'href="tel:"' not in html


def test_person_page_shows_relationships_with_their_type(signed_in: Client, api: Client, ada: str) -> None:
    byron = api.ok("post", "/api/people", {"name": "Byron"}, status=201)["person"]["id"]
    types = {row["name"]: row["id"] for row in api.ok("get", "/api/relationship-types")["relationshipTypes"]}
    body = {"personId": byron, "relatedPersonId": ada, "relationshipTypeId": types["PARENT"], "notes": "A poet"}
    api.ok("post", "/api/relationships", body)
    api.ok("put", f"/api/people/{ada}", {"relationshipToUserId": types["FRIEND"]})
    html = person_page(signed_in, ada)
    assert re.search(rf'Parent</dt>\n<dd><a href="/people/{byron}">Byron</a><small>A poet</small>', html)
    assert '<li class="tie">Friend</li>' in html
    assert "Child</dt>" in person_page(signed_in, byron)
    api.ok("delete", f"/api/people/{byron}")
    assert "Byron" not in person_page(signed_in, ada)


def test_page_of_a_merged_person_leads_to_the_one_into_whom(
    signed_in: Client, api: Client, alice: User, ada: str
) -> None:
    countess, king = (str(make_person(alice, name=name).pk) for name in ("Countess", "King"))
    for primary, secondary in ((king, countess), (ada, king)):
        api.ok("post", "/api/people/merge", {"primaryId": primary, "secondaryId": secondary})
    assert signed_in.get(f"/people/{countess}").headers["Location"] == f"/people/{ada}"
    stranger = make_user("mallory@example.org")
    other = str(make_person(stranger, name="Other").pk)
    client_of(stranger).ok(
        "post", "/api/people/merge", {"primaryId": other, "secondaryId": str(make_person(stranger, name="Eve").pk)}
    )
    assert {signed_in.get(f"/people/{key}").status_code for key in (other, UNKNOWN_ID)} == {404}
    api.ok("delete", f"/api/people/{ada}", {})
    assert signed_in.get(f"/people/{countess}").status_code == 404


@pytest.mark.both_databases
def test_person_page_uses_language_formats_and_name_order_of_the_account(
    signed_in: Client, alice: User, ada: str
) -> None:
    formats = {"language": "de-DE", "date_format": "DMY", "name_order": "EASTERN", "name_display_format": "SHORT"}
    change_preferences(user=alice, values=formats)
    with time_machine.travel(NOW, tick=False):
        html = person_page(signed_in, ada)
    assert '<html lang="de-DE">' in html
    assert "<h1>Countess</h1>" in html
    assert "<dd>Lovelace Ada&lt;b&gt; &quot;Countess&quot;</dd>" in html
    assert "09/12/1988<small>Mittwoch, 9. Dezember · in 14 Tagen · wird 38</small>" in html


def test_deleted_foreign_and_unknown_people_give_the_same_404(
    signed_in: Client, api: Client, ada: str, mallory: User
) -> None:
    hers = make_person(mallory, name="Secret")
    api.ok("delete", f"/api/people/{ada}")
    pages = [signed_in.get(f"/people/{key}") for key in (UNKNOWN_ID, hers.pk, ada, "x")]
    assert {page.status_code for page in pages} == {404}
    bodies = {re.sub(r'value="[^"]*"', "", text_of(page)) for page in pages}  # the CSRF token differs each time
    assert len(bodies) == 1
    assert "There is nothing here" in bodies.pop()


def test_anonymous_visitors_are_redirected_to_sign_in(db: None, alice: User) -> None:
    ada = make_person(alice)
    for client in (Client(), client_of(alice)):
        for key in (ada.pk, UNKNOWN_ID):
            response = client.get(f"/people/{key}")
            assert (response.status_code, response["Location"]) == (302, f"/account/sign-in?next=%2Fpeople%2F{key}")


def test_link_from_another_site_works_with_a_strict_cookie(db: None, settings: Any) -> None:
    """Browsers withhold such a cookie on links from other sites, so a page of the service redirects once more."""
    settings.SESSION_COOKIE_SAMESITE = "Strict"
    page = Client().get(f"/people/{UNKNOWN_ID}", HTTP_SEC_FETCH_SITE="cross-site")
    assert (page.status_code, page.has_header("Location")) == (200, False)
    assert f'content="0; url=/people/{UNKNOWN_ID}"' in text_of(page)
    assert Client().get(f"/people/{UNKNOWN_ID}", HTTP_SEC_FETCH_SITE="same-origin").status_code == 302


def test_number_of_queries_does_not_grow_with_the_person(
    signed_in: Client, api: Client, alice: User, django_assert_num_queries: Any, django_assert_max_num_queries: Any
) -> None:
    lonely, liked = make_person(alice, name="Lonely"), make_person(alice, name="Liked")
    types = api.ok("get", "/api/relationship-types")["relationshipTypes"]
    dates = [{"title": f"Day {number}", "date": "2000-01-01"} for number in range(5)]
    api.ok("put", f"/api/people/{liked.pk}", {"importantDates": dates})
    for number in range(5):
        friend = make_person(alice, name=f"Friend {number}")
        body = {"personId": str(liked.pk), "relatedPersonId": str(friend.pk), "relationshipTypeId": types[number]["id"]}
        api.ok("post", "/api/relationships", body)
        api.ok("post", "/api/groups", {"name": f"Group {number}", "peopleIds": [str(liked.pk)]}, status=201)
    person_page(signed_in, lonely.pk)  # notes the use of the session
    with django_assert_max_num_queries(12) as queries:
        person_page(signed_in, lonely.pk)
    with django_assert_num_queries(len(queries)):
        person_page(signed_in, liked.pk)


@pytest.mark.both_databases
def test_person_page_shows_the_photo(signed_in: Client, alice: User) -> None:
    person = make_person(alice)
    assert '<span class="face" aria-hidden="true">A</span>' in person_page(signed_in, person.pk)
    Person.objects.owned_by(alice).filter(pk=person.pk).update(photo="x.jpg")
    assert f'src="/api/photos/{person.pk}"' in person_page(signed_in, person.pk)


@pytest.fixture
def healthy_instance(monkeypatch: pytest.MonkeyPatch) -> None:
    checks = {"database": "ok", "migrations": "ok", "broker": "ok", "scheduler": {"status": "ok", "lagSeconds": 7}}
    monkeypatch.setattr(home, "check_health", lambda now: (Health.OK, checks))


def test_home_page_shows_state_and_first_steps(db: None, healthy_instance: None, settings: Any) -> None:
    settings.BASE_URL = "https://contacts.example"
    html = text_of(Client().get("/"))
    for text in (
        "Everything works.",
        "ran 7 seconds ago",
        "There is no operator yet",
        "Open: whoever",
        'href="/api/docs"',
    ):
        assert text in html
    assert "https://contacts.example/api/auth/register" in html
    make_user("a@example.org")
    settings.REGISTRATION = "closed"
    html = text_of(Client().get("/", HTTP_ACCEPT_LANGUAGE="fr"))
    assert '<html lang="fr-FR">' in html
    assert "n’accepte pas de nouveaux comptes" in html


def test_home_page_describes_every_health_check(db: None) -> None:
    assert text_of(Client().get("/")).count("<dt>") == len(check_health(timezone.now())[1]) + 1


def test_home_page_leads_to_the_client(signed_in: Client, healthy_instance: None, settings: Any) -> None:
    response = signed_in.get("/")
    assert (response.status_code, response["Location"]) == (302, "/app/")
    html = text_of(Client().get("/"))
    assert 'href="/app/register">Create an account</a>' in html
    assert 'href="/app/sign-in">Sign in</a>' in html
    settings.REGISTRATION = "closed"
    assert "/app/register" not in text_of(Client().get("/"))


def test_home_page_shows_failed_checks(signed_in: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    late = {"status": "failed", "lagSeconds": 600}
    checks = {"database": "failed", "migrations": "failed", "broker": "failed", "scheduler": late, "disk": "failed"}
    monkeypatch.setattr(home, "check_health", lambda now: (Health.UNFIT, checks))
    monkeypatch.setattr(home, "viewer_of", None)  # would ask the database
    response = signed_in.get("/")
    html = text_of(response)
    assert response.status_code == 503
    assert int(response["Retry-After"]) > 0
    for text in ("Something does not work.", "cannot be written to", "last ran 10 minutes ago", "is nearly full"):
        assert text in html


def test_home_page_shows_late_due_scans(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A degraded instance serves: the page is no 503, and names what is late."""
    checks = {"database": "ok", "migrations": "ok", "scheduler": {"status": "late", "lagSeconds": 130}}
    monkeypatch.setattr(home, "check_health", lambda now: (Health.DEGRADED, checks))
    response = Client().get("/")
    assert response.status_code == 200
    html = response.content.decode()
    assert "Something does not work." in html
    assert '<dd class="problem">last ran 2 minutes ago</dd>' in html


@pytest.mark.parametrize("path", ["/people", "/people/", "/people/a/b", "/account", "/x", "/index.html", "/api"])
def test_unknown_paths_are_404_in_json(signed_in: Client, path: str) -> None:
    assert signed_in.ok("get", path, status=404)["error"]


def test_stylesheets_and_images_of_pages_exist(db: None) -> None:
    html = text_of(Client().get("/account/sign-in"))
    for path in set(re.findall(r'"(/static/[^"]+)"', html)):
        response: Any = Client().get(path)
        assert response.status_code == 200
        assert b"".join(response.streaming_content)


def luminance(color: str) -> float:
    parts = [int(color[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_sufficient_in_both_colour_schemes(settings: Any) -> None:
    """Minimum contrasts of WCAG 2.2, 1.4.3 and 1.4.11."""
    css = (settings.BASE_DIR / "contacts_project/static/pages/pages.css").read_text()
    schemes = [
        dict(re.findall(r"--([\w-]+): (#\w{6});", block)) for block in re.findall(r":root {(.*?)}", css, re.DOTALL)
    ]
    assert [len(scheme) for scheme in schemes] == [11, 11]
    for color in schemes:
        for text in ("ink", "soft", "accent", "good", "bad"):
            assert min(contrast(color[text], color[ground]) for ground in ("page", "card")) >= 4.5
        assert contrast(color["accent"], color["tint"]) >= 4.5
        assert contrast(color["on-accent"], color["accent"]) >= 4.5
        assert contrast(color["field"], color["card"]) >= 3


def test_network_diagram_is_drawn_with_a_limited_number_of_people(
    signed_in: Client, api: Client, alice: User, ada: str
) -> None:
    types = {row["name"]: row["id"] for row in api.ok("get", "/api/relationship-types")["relationshipTypes"]}
    others = [make_person(alice, name=f"Kin<{number}>") for number in range(45)]
    for other in others:
        body = {"personId": str(other.pk), "relatedPersonId": ada, "relationshipTypeId": types["CHILD"]}
        api.ok("post", "/api/relationships", body)
    api.ok("put", f"/api/people/{ada}", {"relationshipToUserId": types["FRIEND"]})
    html = person_page(signed_in, ada)
    picture = html[html.index('<svg class="network"') : html.index("and 6 more")]
    assert '<title id="network-title">The network of Ada&lt;b&gt;' in picture
    assert picture.count("<path") == picture.count("<text x=") == 40
    assert f'<a href="/people/{others[0].pk}"><title>Kin&lt;0&gt;: Child</title>' in picture
    assert "<title>Alice: you</title>" in picture
    assert '<svg class="network"' not in person_page(signed_in, make_person(alice, name="Lonely").pk)


def test_long_texts_of_the_network_diagram_are_shortened() -> None:
    related = [
        RelatedPerson("Maximiliane Friederike García Márquez", "Acquaintance"),
        RelatedPerson("山" * 30, "Kin" * 20, href="/x"),
    ]
    diagram = build_diagram(related)
    assert diagram is not None
    assert [(placed.name, placed.label) for placed in diagram.people] == [
        ("Maximiliane Friederi…", "Acquaintance"),
        ("山山山山山山山山…", "KinKinKinKinKinKin…"),
    ]


@pytest.mark.parametrize("number", [400, 800])
def test_many_relationships_to_one_person_are_laid_out_in_linear_time(
    monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    measured = []

    def count(char: str) -> str:
        measured.append(char)
        return "N"

    monkeypatch.setattr(network_diagram, "east_asian_width", count)
    diagram = build_diagram(RelatedPerson("Bob", "Kin" * 16, href="/bob") for _ in range(number))
    assert diagram is not None
    [placed] = diagram.people
    assert placed.person.label.count(",") == number - 1
    assert (placed.label, placed.name) == ("KinKinKinKinKinKin…", "Bob")
    assert len(measured) < 200  # of 20,000 and 40,000 letters


@given(st.text("iW 山\u3000", max_size=60), st.sampled_from([0, 5.0, 12.5, 60.0, 133.0]))
def test_a_text_is_shortened_to_its_longest_beginning_that_fits(text: str, max_width: float) -> None:
    shown = network_diagram._truncate(text, 12.5, max_width)
    width = network_diagram._width
    if width(text, 12.5) <= max_width:
        assert shown == text
        return
    fitting = [end for end in range(len(text)) if width(f"{text[:end]}…", 12.5) <= max_width]
    assert shown == f"{text[: max(fitting, default=0)].rstrip()}…"


@pytest.mark.both_databases
def test_person_page_shows_latest_interactions_and_other_card_properties(
    signed_in: Client, api: Client, ada: str
) -> None:
    for number in range(7):
        body = {
            "personIds": [ada],
            "kind": "CALL",
            "at": f"2026-02-0{number + 1}T12:00:00Z",
            "title": f"Talk <{number}>",
        }
        api.ok("post", "/api/interactions", body, status=201)
    Person.unscoped.update(more=[{"name": "X-SOCIALPROFILE", "value": "https://b.example/<a>", "label": "bird"}])
    html = person_page(signed_in, ada)
    assert "<dt>2026-02-07</dt>\n<dd>Talk &lt;6&gt;<small>Call</small>" in html
    assert html.count("Talk &lt;") == 5
    assert "<dt>bird</dt>" in html
    assert 'href="https://b.example/&lt;a&gt;"' in html
