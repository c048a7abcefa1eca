"""Fixtures of the route tests: alice's records, which are created once per file."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test.utils import override_settings
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.rate_limits import BudgetUse
from notifications.models.deliveries import Heartbeat, record_heartbeat
from sharing.models import Share
from tests.builders import make_user
from tests.client import Client
from tests.routes.route_data import ROUTE_SETTINGS, UNVERIFIED, RouteData, apply_route_settings, make_route_data


@pytest.fixture(scope="module")
def committed_route_data(django_db_setup: None, django_db_blocker: Any) -> Iterator[RouteData]:
    """The records, committed once for all tests of a file. Each test rolls back its changes."""
    with django_db_blocker.unblock(), override_settings(**ROUTE_SETTINGS):
        made = make_route_data(make_user("alice@example.org", name="Alice"))
        record_heartbeat("due_scan", timezone.now())  # GET /api/health fails when the last scan is too long ago
    yield made
    with django_db_blocker.unblock():
        made.owner.delete()
        User.objects.filter(email=UNVERIFIED).delete()  # gone where a test has flushed the tables
        Share.unscoped.rows().delete()
        BudgetUse.objects.all().delete()
        Heartbeat.objects.all().delete()


@pytest.fixture
def route_data(committed_route_data: RouteData, db: None, settings: Any) -> RouteData:
    """The committed records, with a client of alice for this test."""
    apply_route_settings(settings)
    client = Client()
    client.bearer = committed_route_data.client.bearer
    return RouteData(User.objects.get(pk=committed_route_data.owner.pk), client, dict(committed_route_data.ids))
