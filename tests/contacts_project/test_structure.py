"""Checks rules of the code that no linter knows."""

import re
import tomllib
from collections.abc import Iterator
from inspect import getsource
from typing import Any

from django.urls import URLResolver, get_resolver

from accounts.api.viewsets import ApiViewSet, OpenViewSet, OwnedViewSet
from contacts_project.operation.views import DocsView
from sharing.api.invitations import ReceivedInvitationViewSet
from tests import ROOT

NETWORK_CALLS = re.compile(
    r"requests\.(get|post|put|patch|delete|head|request|Session)\(|urllib\.request|http\.client|import (httpx|aiohttp)"
)
APPS = ["accounts", "people", "relationships", "carddav", "meetings", "notifications", "sharing"]
# Authentication finds the account by its credential, so there is no owner to query by yet.
EXEMPT_FROM_OWNERSHIP = {"accounts/api/authentication.py"}


def test_no_view_or_serializer_queries_across_accounts() -> None:
    sources = [path for app in APPS for path in (ROOT / app / "api").rglob("*.py")]
    assert sources
    found = [
        str(path.relative_to(ROOT))
        for path in sources
        if re.search(r"\.unscoped\b|_default_manager|_base_manager", path.read_text())
    ]
    assert set(found) <= EXEMPT_FROM_OWNERSHIP


def test_api_and_services_query_only_rows_of_the_account() -> None:
    around = re.compile(r"get_object_or_404|_default_manager|_base_manager|PrimaryKeyRelatedField")
    of_nobody = re.compile(r"\.objects\.(?!owned_by\(|active_rows\.|active_ids\(|find_active\()")
    for app in APPS:
        for path in (ROOT / app / "services").rglob("*.py"):
            assert not around.search(path.read_text()), path
        for path in (ROOT / app / "api").rglob("*.py"):
            assert not around.search(path.read_text()), path
            assert not of_nobody.search(path.read_text()), path


def routes(patterns: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every path below /api/ with its view class."""
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, path)
        elif path.startswith("api/"):
            yield path, getattr(pattern.callback, "cls", None)


def test_every_route_uses_a_viewset_of_accounts() -> None:
    served = {path: view for path, view in routes(get_resolver().url_patterns) if view is not DocsView}
    assert served
    for path, view in served.items():
        assert issubclass(view, ApiViewSet), path
        assert "<str:" not in path
        assert "<signed:" not in path or issubclass(view, OpenViewSet), path
        if "<id:" in path and view is not ReceivedInvitationViewSet:  # no account owns what it received
            assert issubclass(view, OwnedViewSet), path
            assert re.search(r"super\(\)\.get_queryset\(\)|\.owned_by\(self\.owner\)", getsource(view.get_queryset)), (
                path
            )


def test_services_do_not_depend_on_http() -> None:
    http = re.compile(
        r"rest_framework\.exceptions|rest_framework import status|django\.http import Http404|kernel\.api\.errors"
    )
    found = [
        str(path.relative_to(ROOT))
        for app in APPS
        for path in (ROOT / app / "services").rglob("*.py")
        if http.search(path.read_text())
    ]
    assert not found


def test_network_calls_use_outbound_sessions() -> None:
    found = [
        str(path.relative_to(ROOT))
        for app in [*APPS, "contacts_project"]
        for path in (ROOT / app).rglob("*.py")
        if NETWORK_CALLS.search(path.read_text())
    ]
    assert all(name.startswith("contacts_project/kernel/outbound/") for name in found), found


def test_no_committed_file_names_a_package_registry() -> None:
    for path in [*(ROOT / "requirements").glob("*.txt"), ROOT / "pyproject.toml", ROOT / "Makefile"]:
        assert not re.search(r"(?<!no-emit-)index-url|find-links|https?://", path.read_text()), path
    assert '"resolved"' not in (ROOT / "clients/typescript/package-lock.json").read_text()


def test_no_app_may_import_the_composition_root() -> None:
    """Inside each app the contracts are exhaustive; that of the apps among themselves cannot be."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    above_the_apps = set(contracts[0]["layers"][0].split(" : "))
    root = ROOT / "contacts_project"
    modules = {path.stem for path in root.glob("[!_]*.py")} | {path.parent.name for path in root.glob("*/__init__.py")}
    assert above_the_apps == {f"contacts_project.{name}" for name in modules - {"kernel"}}
