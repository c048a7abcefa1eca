"""The keys of perContactGroups must be ids of the account's own pending imports."""

from uuid import uuid4

import pytest

from accounts.models import User
from carddav.models import PendingImport
from tests.carddav.builders import make_pending
from tests.client import Client


@pytest.mark.parametrize("whose", ["a stranger's", "nobody's", "malformed"])
def test_unknown_or_foreign_keys_are_refused(alice: User, mallory: User, api: Client, whose: str) -> None:
    mine = make_pending(alice)
    keys = {"a stranger's": make_pending(mallory).pk, "nobody's": uuid4(), "malformed": "nonsense"}
    body = {"importIds": [str(mine.pk)], "perContactGroups": {str(keys[whose]): []}}
    response = api.ok("POST", "/api/carddav/import", body, status=400)
    assert [detail["field"] for detail in response["details"]] == [f"perContactGroups.{keys[whose]}"]
    assert PendingImport.objects.owned_by(alice).exists()


def test_groups_of_a_pending_import_that_is_not_imported_are_ignored(alice: User, api: Client) -> None:
    mine, other = make_pending(alice), make_pending(alice)
    body = {"importIds": [str(mine.pk)], "perContactGroups": {str(other.pk): []}}
    assert api.ok("POST", "/api/carddav/import", body)["imported"] == 1
