"""The HTML pages: the home page, and what all pages share."""

import re
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from contacts_project.admin.health_words import describe_health
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


def test_home_page_shows_the_ways_in(signed_in: Client, healthy_instance: None, settings: Any) -> None:
    """In the language of the browser, and nothing that only an operator understands."""
    response = signed_in.get("/")
    assert (response.status_code, response["Location"]) == (302, "/app/")
    html = text_of(Client().get("/"))
    assert 'class="button" href="/app/register">Create an account</a>' in html
    assert 'class="button plain" href="/app/sign-in">Sign in</a>' in html
    assert 'src="/app/people.svg"' in html
    for text in ("curl", "Scheduler", "Task queue"):
        assert text not in html
    html = text_of(Client().get("/", HTTP_ACCEPT_LANGUAGE="ja"))
    assert '<html lang="ja-JP">' in html
    assert "誕生日や、しばらく会っていない人をお知らせします。" in html


def test_home_page_says_who_can_sign_up(db: None, healthy_instance: None, settings: Any) -> None:
    assert "There is no operator yet" in text_of(Client().get("/"))
    make_user("a@example.org")
    assert "There is no operator yet" not in text_of(Client().get("/"))
    settings.REGISTRATION = "closed"
    html = text_of(Client().get("/", HTTP_ACCEPT_LANGUAGE="fr"))
    assert "/app/register" not in html
    assert '<html lang="fr-FR">' in html
    assert "n’accepte pas de nouveaux comptes" in html


def test_home_page_of_an_unfit_instance(signed_in: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    checks = {"database": "failed", "migrations": "failed"}
    monkeypatch.setattr(home, "check_health", lambda now: (Health.UNFIT, checks))
    monkeypatch.setattr(home, "viewer_of", None)  # would ask the database
    response = signed_in.get("/")
    html = text_of(response)
    assert response.status_code == 503
    assert int(response["Retry-After"]) > 0
    assert "Something does not work at the moment." in html
    assert "/app/register" not in html


def test_operators_read_the_health_in_words(db: None) -> None:
    """Every part of the check has words, whether it is fit or not."""
    parts = check_health(timezone.now())[1]
    assert len(describe_health(parts)) == len(parts)
    late = {"status": "failed", "lagSeconds": 600}
    checks = {"database": "failed", "migrations": "newer", "broker": "failed", "scheduler": late, "disk": "failed"}
    assert describe_health(checks) == [
        ("Database", "does not answer, or cannot be written to", True),
        ("Tables", "of a newer version than this program: run that version", True),
        ("Task queue", "does not answer", True),
        ("Scheduler", "last ran 10 min ago", True),
        ("Disk", "is nearly full", True),
    ]


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
