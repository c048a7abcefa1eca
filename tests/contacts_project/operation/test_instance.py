"""GET /api/instance says what a client needs to know before anybody signs in."""

from typing import Any

import pytest
from environ import Env

from tests.client import Client, client_of


@pytest.mark.sqlite_suffices
def test_instance_is_described_to_anybody(settings: Any, db: None) -> None:
    settings.REGISTRATION, settings.EMAIL_VERIFICATION = "first", "mandatory"
    settings.BASE_URL = "https://people.example"
    settings.VAPID_PUBLIC_KEY = settings.VAPID_PRIVATE_KEY = "key"
    settings.GEOCODER_URL, settings.MAX_PHOTO_BYTES, settings.MAX_IMPORT_BYTES = "https://geo.example", 1000, 2000
    settings.MAP_TILES_URL, settings.MAP_TILES_ATTRIBUTION = "https://tiles.example/{z}/{x}/{y}.png", "© Mappers"
    assert client_of(None).ok("GET", "/api/instance") == {
        "version": settings.VERSION,
        "baseUrl": "https://people.example",
        "registration": "first",
        "emailVerification": "mandatory",
        "providers": [],
        "push": True,
        "mail": True,
        "geocoding": True,
        "mapTilesUrl": "https://tiles.example/{z}/{x}/{y}.png",
        "mapTilesAttribution": "© Mappers",
        "languages": ["en", "es-ES", "ja-JP", "nb-NO", "de-DE", "fr-FR"],
        "maxPhotoBytes": 1000,
        "maxImportBytes": 2000,
    }


@pytest.mark.sqlite_suffices
def test_instance_names_its_provider_and_what_is_off(settings: Any, db: None) -> None:
    settings.VAPID_PUBLIC_KEY = settings.VAPID_PRIVATE_KEY = settings.GEOCODER_URL = ""
    settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID = "https://id.example", "client"
    settings.BASE_URL = "http://127.0.0.1:8000"
    instance = client_of(None).ok("GET", "/api/instance")
    assert instance["providers"] == client_of(None).ok("GET", "/api/auth/providers")["providers"] != []
    assert (instance["push"], instance["geocoding"]) == (False, False)
    assert (instance["mapTilesUrl"], instance["mapTilesAttribution"]) == (None, None)
    assert instance["baseUrl"] is None  # of this machine alone


@pytest.mark.sqlite_suffices
@pytest.mark.parametrize(
    ("url", "mail"),
    [
        ("consolemail://", False),
        ("filemail:///mails", False),
        ("dummymail://", False),
        ("smtp://mail.example", True),
    ],
)
def test_instance_says_whether_mails_leave_it(url: str, mail: bool, settings: Any, db: None) -> None:
    settings.EMAIL_BACKEND = Env.email_url_config(url)["EMAIL_BACKEND"]
    assert client_of(None).ok("GET", "/api/instance")["mail"] is mail


@pytest.mark.sqlite_suffices
def test_stale_credential_does_not_matter(db: None) -> None:
    Client(HTTP_AUTHORIZATION="Bearer nonsense").ok("GET", "/api/instance")
