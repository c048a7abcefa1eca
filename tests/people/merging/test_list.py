"""The list of merges says which can be undone, and the trash names the merge of a person."""

import datetime as dt

import pytest
import time_machine
from django.utils import timezone

from tests.client import Client
from tests.people.merging.steps import merge_people, undo_merge
from tests.people.steps import create_person

MERGES = "/api/people/merges"


def test_merges_are_listed_newest_first(api: Client, stranger: Client) -> None:
    ada, twin = create_person(api, "Ada"), create_person(api, "Adah")
    first = merge_people(api, ada, twin)["mergeId"]
    second = merge_people(api, create_person(api, "Bob"), ada)["mergeId"]
    newest, oldest = api.ok("GET", MERGES)["merges"]
    assert (newest["mergeId"], oldest["mergeId"]) == (second, first)
    assert oldest["primary"] == {"id": ada, "name": "Ada"}
    assert oldest["secondary"] == {"id": twin, "name": "Adah"}
    assert set(oldest) == {"mergeId", "primary", "secondary", "mergedAt", "undoneAt", "undoable"}
    # Ada is in the trash herself by now, so her own merge has to wait for that of Bob to be undone.
    assert (newest["undoable"], oldest["undoable"]) == (True, False)
    assert newest["undoneAt"] is oldest["undoneAt"] is None
    undo_merge(api, second)
    newest, oldest = api.ok("GET", MERGES)["merges"]
    assert (newest["undoable"], oldest["undoable"]) == (False, True)
    assert newest["undoneAt"] > newest["mergedAt"]
    assert oldest["undoneAt"] is None
    assert stranger.ok("GET", MERGES) == {"merges": []}


def test_edit_of_what_undo_would_revert_makes_it_impossible(api: Client) -> None:
    ada = create_person(api, "Ada")
    merge = merge_people(api, ada, create_person(api, "Ada", nickname="Countess"))["mergeId"]
    api.ok("PUT", f"/api/people/{ada}", {"nickname": "Lady"})
    [listed] = api.ok("GET", MERGES)["merges"]
    assert listed["undoable"] is False
    undo_merge(api, merge, status=409)


def test_person_who_is_gone_is_null(api: Client) -> None:
    ada, twin = create_person(api, "Ada"), create_person(api, "Ada")
    merge_people(api, ada, twin)
    api.ok("DELETE", f"/api/people/{twin}/permanent")
    [listed] = api.ok("GET", MERGES)["merges"]
    assert (listed["secondary"], listed["undoable"]) == (None, False)


def test_old_merges_are_not_listed(api: Client) -> None:
    merge_people(api, create_person(api, "Ada"), create_person(api, "Ada"))
    with time_machine.travel(timezone.now() + dt.timedelta(days=31)):
        assert api.ok("GET", MERGES) == {"merges": []}


@pytest.mark.both_databases
def test_merged_person_in_the_trash_has_the_merge(api: Client) -> None:
    ada, twin, other = create_person(api, "Ada"), create_person(api, "Adah"), create_person(api, "Bob")
    merge = merge_people(api, ada, twin)["mergeId"]
    api.ok("DELETE", f"/api/people/{other}")
    deleted = api.ok("GET", "/api/deleted?type=people")["deleted"]
    assert [(row["id"], row["mergeId"]) for row in deleted] == [(other, None), (twin, merge)]
    api.ok("POST", f"/api/people/{twin}/restore")
    api.ok("DELETE", f"/api/people/{twin}")  # no longer because of the merge
    deleted = api.ok("GET", "/api/deleted?type=people&limit=1")["deleted"]
    assert [(row["id"], row["mergeId"]) for row in deleted] == [(twin, None)]
