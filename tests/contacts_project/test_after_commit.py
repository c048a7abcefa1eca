"""Signals after the commit are best effort: if one fails, the committed write is still answered as successful."""

import re
from collections.abc import Iterator

import pytest
from django.dispatch import Signal

from accounts.models import User
from people.signals import people_changed
from tests import ROOT
from tests.client import Client
from tests.contacts_project.test_structure import APPS


def refuse(**kwargs: object) -> None:
    """Fail as if the broker were unreachable."""
    raise ConnectionError


@pytest.fixture
def broken() -> Iterator[Signal]:
    people_changed.connect(refuse)
    yield people_changed
    people_changed.disconnect(refuse)


@pytest.mark.django_db(transaction=True)
def test_write_succeeds_even_if_a_signal_after_the_commit_fails(broken: Signal, api: Client, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_mirrored=True)
    made = api.ok("post", "/api/people", {"name": "Ada"}, status=201)["person"]
    assert api.ok("get", f"/api/people/{made['id']}")["person"]["name"] == "Ada"


def test_commit_hooks_have_a_qualified_name() -> None:
    """Django logs the __qualname__ of a robust hook that failed; a partial has none, and would fail the request."""
    sources = [path for app in [*APPS, "contacts_project"] for path in (ROOT / app).rglob("*.py")]
    assert [path for path in sources if re.search(r"on_commit\(\s*partial\(", path.read_text())] == []
