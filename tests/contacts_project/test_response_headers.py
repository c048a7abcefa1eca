"""Security headers of responses: no foreign or inline scripts, https only, no caching of private data."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as project
from django_celery_beat.models import PeriodicTask

from contacts_project.beat import SCHEDULE
from contacts_project.kernel.api.responses import content_security_policy
from tests.client import Client
from tests.workers import run_manage

# An inline script, style or handler is what the policy forbids; a block of JSON is data.
INLINE = re.compile(r"<script(?![^>]*(?: src=|type=\"application/json\"))[^>]*>|<style|\sstyle=|\son[a-z]+=\"")


@pytest.mark.usefixtures("schedule")
def test_no_page_contains_what_the_content_policy_forbids(operator: Client) -> None:
    tasks = "/admin/django_celery_beat/periodictask/"
    task = PeriodicTask.objects.get(name=SCHEDULE[0].name)
    pages = ["/admin/", "/admin/accounts/user/", "/admin/accounts/user/add/", tasks, f"{tasks}{task.pk}/change/"]
    for path in ["/", "/account/sign-in", "/account/verify-email", "/api/unsubscribe", *pages, "/nowhere"]:
        response = operator.get(path)
        assert response["Content-Security-Policy"] == project.CONTENT_SECURITY_POLICY, path
        assert INLINE.findall(response.content.decode()) == [], path
        assert "no-store" in response["Cache-Control"], path


def test_security_checks_of_django_pass_with_https(tmp_path: Path) -> None:
    script = (
        "from django.conf import settings as s; from django.core.management import call_command as call; "
        "call('check', deploy=True, fail_level='WARNING'); "
        "print(s.SESSION_COOKIE_SECURE, s.SESSION_COOKIE_HTTPONLY, s.SESSION_COOKIE_SAMESITE, s.CSRF_COOKIE_SECURE, "
        "s.CSRF_COOKIE_SAMESITE, s.SECURE_HSTS_SECONDS)"
    )
    production = {
        "BASE_URL": "https://example.org",
        "DATA_DIR": str(tmp_path),
        "DATABASE_URL": f"sqlite:///{tmp_path}/new.sqlite3",
        "TRUSTED_PROXY_COUNT": "1",
        "LOG_LEVEL": "ERROR",
    }
    checked = "System check identified no issues (4 silenced).\n"
    expected = (0, f"{checked}True True Lax True Lax 31536000\n")
    assert run_manage(tmp_path, production, "shell", "--no-imports", "-c", script) == expected


HARDENED = {
    "Content-Security-Policy": project.CONTENT_SECURITY_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "Strict-Transport-Security": "max-age=31536000",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


@pytest.mark.parametrize(
    "path", ["/", "/account/sign-in", "/admin/login/", "/admin/", "/api/version", "/api/health", "/metrics", "/nowhere"]
)
def test_every_response_has_security_headers_with_https(db: None, settings: Any, path: str) -> None:
    settings.SECURE_HSTS_SECONDS = 365 * 24 * 3600
    response = Client().get(path, secure=True)
    assert {name: response[name] for name in HARDENED} == HARDENED


@pytest.mark.parametrize(
    ("tiles_url", "images"),
    [
        ("", "'self' data: blob:"),
        ("https://tiles.example.org/{z}/{x}/{y}.png", "'self' data: blob: https://tiles.example.org"),
        ("http://10.0.0.7:8080/osm/{z}/{x}/{y}.png?key=1", "'self' data: blob: http://10.0.0.7:8080"),
    ],
)
def test_images_come_from_here_and_from_the_tiles(tiles_url: str, images: str) -> None:
    policy = content_security_policy(tiles_url)
    directives = dict(part.split(" ", 1) for part in policy.split("; "))
    assert directives["img-src"] == images
    assert policy.replace(f"img-src {images}", "img-src") == content_security_policy("").replace(
        "img-src 'self' data: blob:", "img-src"
    )
