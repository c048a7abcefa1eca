"""The HTML pages: the home page, and what all pages share."""

import re
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from contacts_project.operation.health import Health, check_health
from contacts_project.pages import home
from tests.builders import make_user
from tests.client import Client, client_of

pytestmark = pytest.mark.sqlite_suffices


def text_of(response: Any) -> str:
    """The page's HTML, after checking that a strict Content-Security-Policy allows everything in it."""
    html: str = response.content.decode()
    assert not re.search(r"<script|<style|\sstyle=|\son\w+=|<iframe", html)
    assert all(path.startswith("/") for path in re.findall(r'(?:src|<link[^>]* href)="([^"]*)"', html))
    return html


def test_anonymous_visitors_are_redirected_to_sign_in(db: None, alice: User) -> None:
    for client in (Client(), client_of(alice)):
        response = client.get("/people/labels")
        assert (response.status_code, response["Location"]) == (302, "/account/sign-in?next=%2Fpeople%2Flabels")


def test_link_from_another_site_works_with_a_strict_cookie(db: None, settings: Any) -> None:
    """Browsers withhold such a cookie on links from other sites, so a page of the service redirects once more."""
    settings.SESSION_COOKIE_SAMESITE = "Strict"
    page = Client().get("/people/labels", HTTP_SEC_FETCH_SITE="cross-site")
    assert (page.status_code, page.has_header("Location")) == (200, False)
    assert 'content="0; url=/people/labels"' in text_of(page)
    assert Client().get("/people/labels", HTTP_SEC_FETCH_SITE="same-origin").status_code == 302


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
    assert [len(scheme) for scheme in schemes] == [10, 10]
    for color in schemes:
        for text in ("ink", "soft", "accent", "good", "bad"):
            assert min(contrast(color[text], color[ground]) for ground in ("page", "card")) >= 4.5
        assert contrast(color["on-accent"], color["accent"]) >= 4.5
        assert contrast(color["field"], color["card"]) >= 3
