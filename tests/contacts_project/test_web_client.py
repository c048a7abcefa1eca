"""How the client in the browser is served: one page at all paths below /app/, compressed files that never change."""

import gzip
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from accounts.models import User
from contacts_project.kernel import zstd
from contacts_project.kernel.api import compression
from contacts_project.kernel.api.compression import compress_once
from contacts_project.pages.web_client import FOLDER, WELL_KNOWN_ICONS
from people.models.person import person_url
from tests.builders import UNKNOWN_ID, make_person
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


CODINGS = [("br, gzip", "gzip"), ("gzip", "gzip"), ("gzip, br, zstd", "zstd"), ("br", None), ("", None)]
DECODE: dict[str | None, Callable[[bytes], bytes]] = {None: bytes, "gzip": gzip.decompress, "zstd": zstd.decompress}


@pytest.mark.parametrize(("accepted", "coding"), CODINGS)
@pytest.mark.parametrize("suffix", [".js", ".css"])
def test_static_files_are_compressed_and_immutable(accepted: str, coding: str | None, suffix: str) -> None:
    path = asset(suffix)
    for _ in range(2):  # when it is first asked for, and from then on
        response: Any = Client().get(f"/static/app/assets/{path.name}", HTTP_ACCEPT_ENCODING=accepted)
        assert response.headers.get("Content-Encoding") == coding
        assert response["Cache-Control"] == "max-age=315360000, public, immutable"
        assert response["Vary"] == "Accept-Encoding"
        body = response.getvalue()
        assert response["Content-Length"] == str(len(body))
        assert DECODE[coding](body) == path.read_bytes()
        assert coding is None or len(body) < path.stat().st_size / 2


def test_each_form_of_a_static_file_has_its_own_etag_and_all_are_accepted() -> None:
    url = f"/static/app/assets/{asset('.js').name}"
    tags = {coding: Client().get(url, HTTP_ACCEPT_ENCODING=coding)["ETag"] for coding in ("", "gzip", "zstd")}
    assert len(set(tags.values())) == 3
    for tag in tags.values():
        unchanged = Client().get(url, HTTP_ACCEPT_ENCODING="gzip", HTTP_IF_NONE_MATCH=tag)
        assert (unchanged.status_code, unchanged["ETag"], unchanged["Vary"]) == (304, tag, "Accept-Encoding")


def test_head_of_a_static_file_says_what_get_says() -> None:
    url = f"/static/app/assets/{asset('.js').name}"
    of_get = Client().get(url, HTTP_ACCEPT_ENCODING="gzip")
    of_head = Client().head(url, HTTP_ACCEPT_ENCODING="gzip")
    for name in (
        "Content-Encoding",
        "Content-Length",
        "Content-Type",
        "ETag",
        "Vary",
        "Cache-Control",
        "Last-Modified",
    ):
        assert of_head[name] == of_get[name]
    assert of_head.content == b""


def test_a_part_of_a_static_file_is_a_part_of_its_plain_form() -> None:
    path = asset(".js")
    response: Any = Client().get(
        f"/static/app/assets/{path.name}", HTTP_ACCEPT_ENCODING="gzip, zstd", HTTP_RANGE="bytes=100-4099"
    )
    assert response.status_code == 206
    assert "Content-Encoding" not in response.headers
    assert response.getvalue() == path.read_bytes()[100:4100]


def test_static_file_is_compressed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[str] = []

    def count(content: bytes, coding: str) -> bytes:
        counted.append(coding)
        return compress_once(content, coding)

    monkeypatch.setattr(compression, "compress_once", count)
    compression._compressed.cache_clear()
    for coding in ("gzip", "zstd", "gzip", "zstd", "br"):
        Client().get(f"/static/app/assets/{asset('.css').name}", HTTP_ACCEPT_ENCODING=coding)
    assert counted == ["gzip", "zstd"]


def test_other_static_files_are_compressed_and_not_immutable() -> None:
    response = Client().get("/static/pages/pages.css", HTTP_ACCEPT_ENCODING="gzip")
    assert response["Content-Encoding"] == "gzip"
    assert "immutable" not in response["Cache-Control"]
    assert "Accept-Encoding" in response["Vary"]


@pytest.mark.parametrize("path", ["/static/app/icon-512.png", "/app/icon-512.png"])
def test_pictures_are_not_compressed(path: str) -> None:
    assert "Content-Encoding" not in Client().get(path, HTTP_ACCEPT_ENCODING="gzip, zstd").headers


@pytest.mark.parametrize(("accepted", "coding"), CODINGS)
@pytest.mark.parametrize("path", ["/app/people", "/app/sw.js"])
def test_page_and_worker_are_compressed(path: str, accepted: str, coding: str | None) -> None:
    response = Client().get(path, HTTP_ACCEPT_ENCODING=accepted)
    assert response.headers.get("Content-Encoding") == coding
    assert "Accept-Encoding" in response["Vary"]
    assert DECODE[coding](response.content) == Client().get(path).content
    again = Client().get(path, HTTP_ACCEPT_ENCODING=accepted, HTTP_IF_NONE_MATCH=response["ETag"])
    assert (again.status_code, again["ETag"]) == (304, response["ETag"])


@pytest.mark.parametrize(
    ("template", "url"),
    [("", "https://contacts.example/app/people/x"), ("https://app.example/#/{id}", "https://app.example/#/x")],
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


def test_links_to_a_person_lead_to_the_client(db: None, signed_in: Client, alice: User) -> None:
    ada = str(make_person(alice, name="Ada").pk)
    for client in (Client(), signed_in):
        for key in (ada, UNKNOWN_ID, "x"):
            response = client.get(f"/people/{key}")
            assert (response.status_code, response["Location"]) == (302, f"/app/people/{key}")


def test_link_to_a_merged_person_leads_to_the_one_into_whom(
    signed_in: Client, api: Client, alice: User, mallory: User
) -> None:
    ada, countess, king = (str(make_person(alice, name=name).pk) for name in ("Ada", "Countess", "King"))
    for primary, secondary in ((king, countess), (ada, king)):
        api.ok("post", "/api/people/merge", {"primaryId": primary, "secondaryId": secondary})
    assert signed_in.get(f"/people/{countess}")["Location"] == f"/app/people/{ada}"
    stranger = Client()
    stranger.force_login(mallory)
    assert stranger.get(f"/people/{countess}")["Location"] == f"/app/people/{countess}"


def test_the_worker_of_the_bare_address_may_answer_for_it(db: None) -> None:
    """The scope of a service worker is its folder, unless this header says otherwise."""
    assert Client().get("/app/home.js")["Service-Worker-Allowed"] == "/"
    assert not Client().get("/app/sw.js").has_header("Service-Worker-Allowed")
