"""How the client in the browser is served: one page at all paths below /app/, compressed files that never change."""

import re
from pathlib import Path
from typing import Any

import pytest

from accounts.models import User
from contacts_project.pages.web_client import FOLDER, WELL_KNOWN_ICONS
from people.links import person_url
from tests.builders import make_person
from tests.client import Client
from tests.pictures import picture, upload


@pytest.mark.parametrize("path", ["/app", "/app/", "/app/people", "/app/people/x/y", "/app/nothing.txt", "/app/a.b/c"])
def test_every_path_that_is_no_file_is_the_page(path: str) -> None:
    response = Client().get(path)
    assert response.status_code == 200
    assert response["Content-Type"] == "text/html; charset=utf-8"
    assert response["Cache-Control"] == "no-cache"
    assert response["Referrer-Policy"] == "same-origin"
    assert '<div id="app">' in response.content.decode()


def test_page_has_no_inline_script_or_style() -> None:
    html = Client().get("/app/").content.decode()
    assert re.findall(r"<script(?![^>]* src=\"/static/app/)[^>]*>|<style|\sstyle=|\son[a-z]+=", html) == []


def test_page_is_revalidated_by_its_etag() -> None:
    etag = Client().get("/app/")["ETag"]
    assert Client().get("/app/people", HTTP_IF_NONE_MATCH=etag).status_code == 304
    assert Client().head("/app/").content == b""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/app/sw.js", "text/javascript; charset=utf-8"),
        ("/app/manifest.webmanifest", "application/manifest+json"),
        ("/app/icon-192.png", "image/png"),
        ("/app/icon.svg", "image/svg+xml"),
    ],
)
def test_files_with_fixed_names_are_revalidated(path: str, kind: str) -> None:
    response = Client().get(path)
    assert (response.status_code, response["Content-Type"], response["Cache-Control"]) == (200, kind, "no-cache")


@pytest.mark.parametrize("name", [*WELL_KNOWN_ICONS])
def test_icons_that_browsers_ask_for_are_there(name: str) -> None:
    response = Client().get(f"/{name}")
    assert response.status_code == 200
    assert response["Content-Type"].startswith("image/")


@pytest.mark.parametrize(
    "path", ["/app/../settings.py", "/app/%2e%2e/settings.py", "/app/assets", "/app/..", "/app/.env"]
)
def test_no_other_file_is_served(path: str) -> None:
    response = Client().get(path)
    assert response.status_code == 404 or '<div id="app">' in response.content.decode()


def asset(suffix: str) -> Path:
    """The largest file of the client with this suffix."""
    return max((FOLDER / "assets").glob(f"*{suffix}"), key=lambda path: path.stat().st_size)


@pytest.mark.parametrize(
    ("accepted", "coding"), [("br, gzip", "br"), ("gzip", "gzip"), ("zstd, gzip", "zstd"), ("", None)]
)
@pytest.mark.parametrize("suffix", [".js", ".css"])
def test_static_files_are_compressed_and_immutable(accepted: str, coding: str | None, suffix: str) -> None:
    path = asset(suffix)
    response: Any = Client().get(f"/static/app/assets/{path.name}", HTTP_ACCEPT_ENCODING=accepted)
    assert response.headers.get("Content-Encoding") == coding
    assert "immutable" in response["Cache-Control"]
    length = len(b"".join(response.streaming_content))
    assert length < path.stat().st_size / 2 if coding else length == path.stat().st_size


def test_other_static_files_are_compressed_and_not_immutable() -> None:
    response = Client().get("/static/pages/pages.css", HTTP_ACCEPT_ENCODING="gzip")
    assert response["Content-Encoding"] == "gzip"
    assert "immutable" not in response["Cache-Control"]
    assert "Accept-Encoding" in response["Vary"]


@pytest.mark.parametrize(
    ("template", "url"),
    [("", "https://contacts.example/people/x"), ("https://app.example/#/{id}", "https://app.example/#/x")],
)
def test_links_to_people_follow_app_url(template: str, url: str, settings: object) -> None:
    settings.APP_URL, settings.BASE_URL = template, "https://contacts.example"  # type: ignore[attr-defined]
    assert person_url("x") == url


def test_photo_at_its_own_address_is_immutable(api: Client, alice: User, media: Path) -> None:
    ada = make_person(alice, name="Ada")
    url = f"/api/photos/{ada.pk}"
    former = upload(api, f"/api/people/{ada.pk}/photo", picture()).json()["photo"]
    assert api.get(f"{url}?v={former}")["Cache-Control"] == "private, max-age=31536000, immutable"
    upload(api, f"/api/people/{ada.pk}/photo", picture(color="blue"))
    for query in ("", "?v=", f"?v={former}"):
        assert api.get(url + query)["Cache-Control"] == "private, no-cache", query


@pytest.mark.django_db
def test_the_page_of_a_person_leads_to_the_client(browser: Client, alice: User) -> None:
    person = make_person(alice, name="Ada").pk
    browser.force_login(alice)
    assert f'href="/app/people/{person}"' in browser.get(f"/people/{person}").content.decode()
