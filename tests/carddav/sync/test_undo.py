"""Undoing a run: people are as they were, the server is not touched until somebody has seen what would go up."""

from typing import Any

import pytest

from accounts.models import User
from carddav.models import Connection, Run, Tombstone
from people.models import Person
from tests.carddav.sync.stage import Stage, counts, vcard
from tests.client import Client


@pytest.fixture
def stage(alice: User) -> Stage:
    """Ada and Grace are on both sides."""
    stage = Stage(alice)
    for name in ("Ada", "Grace"):
        stage.server.edit(f"{name}.vcf", vcard(name, "ORG:Old", uid=name))
    stage.sync()
    stage.requests()
    return stage


def undo(stage: Stage, run: Run, **options: Any) -> Any:
    return stage.api.ok("POST", f"/api/carddav/runs/{run.pk}/undo", **options)


def test_what_a_run_changed_made_and_trashed_is_put_back(stage: Stage) -> None:
    stage.server.edit("Ada.vcf", vcard("Ada", "ORG:New", "TEL:1", uid="Ada"))
    stage.server.edit("Zoe.vcf", vcard("Zoe", uid="Zoe"))
    stage.server.remove("/ada/book/Grace.vcf")
    run = stage.sync()
    assert counts(run) == {"imported": 1, "updated_locally": 2}
    before = dict(stage.server.cards)
    assert undo(stage, run) == {"restored": 3, "kept": []}
    ada = stage.person()
    assert (ada.organization, ada.phone_numbers) == ("Old", [])
    assert stage.person("Grace")
    assert Person.objects.owned_by(stage.owner).deleted().get().name == "Zoe"
    assert stage.server.cards == before


def test_runs_are_dry_until_one_is_confirmed(stage: Stage) -> None:
    stage.server.edit("Ada.vcf", vcard("Ada", "ORG:New", uid="Ada"))
    stage.server.edit("Zoe.vcf", vcard("Zoe", uid="Zoe"))
    run = stage.sync()
    undo(stage, run)
    assert not Connection.objects.owned_by(stage.owner).due(run.started_at.replace(year=2200)).exists()
    preview = stage.sync()
    assert preview.dry_run
    assert "ORG:New" in stage.card_of(stage.person())
    done = stage.sync(confirm=True)
    assert not done.dry_run
    assert counts(done) == counts(preview) == {"updated_remotely": 1}
    assert "ORG:Old" in stage.card_of(stage.person())
    # The card of whom the run had made stays there, and is not imported again.
    assert any("FN:Zoe" in card.text for card in stage.server.cards.values())
    assert Tombstone.objects.owned_by(stage.owner).get().reason == "undone"
    again = stage.sync()
    assert (again.dry_run, counts(again), again.pending_imports) == (False, {}, 0)


def test_who_was_edited_since_is_kept_and_named(stage: Stage) -> None:
    stage.server.edit("Ada.vcf", vcard("Ada", "ORG:New", uid="Ada"))
    stage.server.edit("Grace.vcf", vcard("Grace", "ORG:New", uid="Grace"))
    run = stage.sync()
    stage.edit(stage.person(), nickname="Countess")
    answer = undo(stage, run)
    assert answer["restored"] == 1
    [kept] = answer["kept"]
    assert (kept["personId"], kept["personName"]) == (str(stage.person().pk), 'Ada "Countess"')
    assert kept["reason"]
    assert stage.person().organization == "New"
    assert stage.person("Grace").organization == "Old"


def test_once_is_enough_and_only_ones_own(stage: Stage, stranger: Client) -> None:
    stage.server.edit("Ada.vcf", vcard("Ada", "ORG:New", uid="Ada"))
    run = stage.sync()
    assert stranger.call("POST", f"/api/carddav/runs/{run.pk}/undo").status_code == 404
    assert stage.person().organization == "New"
    undo(stage, run)
    again = stage.api.call("POST", f"/api/carddav/runs/{run.pk}/undo")
    assert (again.status_code, again.json()["code"]) == (400, "already_undone")
    [first, *_] = stage.api.ok("GET", "/api/carddav/runs")["runs"]
    assert (first["id"], first["undone"]) == (str(run.pk), True)


def test_a_run_that_changed_nobody_leaves_the_next_as_it_is(stage: Stage) -> None:
    run = stage.sync()
    assert undo(stage, run) == {"restored": 0, "kept": []}
    assert not stage.sync().dry_run
