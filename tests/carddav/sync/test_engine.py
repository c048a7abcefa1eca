"""The engine over a book in memory: what each side takes of the other, and at what cost."""

from contextlib import suppress
from typing import Any

import pytest

from accounts.models import User
from carddav.models import Conflict, Mapping, PendingImport
from people.models import Person
from tests.carddav.sync.memory_book import Killed
from tests.carddav.sync.stage import Stage, counts, vcard


@pytest.fixture
def stage(alice: User) -> Stage:
    return Stage(alice)


def test_a_first_import_and_then_nothing(stage: Stage) -> None:
    for number in range(60):
        stage.server.edit(f"{number}.vcf", vcard(f"Person{number} Test", "TEL:1", uid=str(number)))
    run = stage.sync()
    assert (run.code, counts(run), run.error_messages) == ("", {"imported": 60}, [])
    assert stage.requests() == ["changes", "multiget", "multiget"]
    before = {row.pk: row.updated_at for row in [*Person.unscoped.all(), *Mapping.unscoped.all()]}
    assert counts(stage.sync()) == {}
    assert stage.requests() == ["changes"]
    assert before == {row.pk: row.updated_at for row in [*Person.unscoped.all(), *Mapping.unscoped.all()]}


def test_local_edit_one_put_and_no_echo(stage: Stage) -> None:
    stage.server.edit("1.vcf", vcard("Ada L", "TEL;TYPE=HOME:1", "X-FOO:bar"))
    stage.sync()
    stage.edit(stage.person(), organization="Analytical")
    stage.requests()
    assert counts(stage.sync()) == {"updated_remotely": 1}
    assert stage.requests() == ["changes", "put", "multiget"]
    text = stage.card_of(stage.person())
    assert "ORG:Analytical" in text
    assert "X-FOO:bar" in text
    assert counts(stage.sync()) == {}
    assert stage.requests() == ["changes"]


def test_remote_edit_arrives(stage: Stage) -> None:
    href = stage.server.edit("1.vcf", vcard("Ada L", "TEL:1"))
    stage.sync()
    person = stage.person()
    stage.server.edit(href, vcard("Ada L", "TEL:1", "EMAIL:a@example.org", "NOTE:hi"))
    assert counts(stage.sync()) == {"updated_locally": 1}
    person.refresh_from_db()
    assert [entry["email"] for entry in person.emails] == ["a@example.org"]
    assert person.notes == "hi"
    assert counts(stage.sync()) == {}


def test_new_person_is_exported(stage: Stage) -> None:
    stage.sync()
    stage.api.ok("POST", "/api/people", {"name": "Bob", "phoneNumbers": [{"type": "home", "number": "7"}]}, status=201)
    stage.requests()
    assert counts(stage.sync()) == {"exported": 1}
    assert stage.requests() == ["changes", "put", "multiget"]
    [stored] = stage.server.cards.values()
    assert "FN:Bob" in stored.text
    assert "TEL;TYPE=HOME:7" in stored.text
    assert counts(stage.sync()) == {}
    assert stage.requests() == ["changes"]


def test_both_sides_edited(stage: Stage) -> None:
    href = stage.server.edit("1.vcf", vcard("Ada L", "TEL:1", "TEL;TYPE=WORK:2"))
    stage.sync()
    person = stage.person()
    phones = [*person.phone_numbers, {"type": "car", "number": "3"}]
    stage.edit(person, phoneNumbers=phones, jobTitle="Countess")
    stage.server.edit(href, vcard("Ada L", "TEL:1", "ORG:Home"))
    assert counts(stage.sync()) == {"updated_locally": 1, "updated_remotely": 1}
    person.refresh_from_db()
    assert [entry["number"] for entry in person.phone_numbers] == ["1", "3"]
    assert (person.organization, person.job_title) == ("Home", "Countess")
    text = stage.card_of(person)
    assert "TITLE:Countess" in text
    assert "ORG:Home" in text
    assert ":2" not in text
    assert counts(stage.sync()) == {}


def test_one_scalar_edited_on_both_sides(stage: Stage) -> None:
    href = stage.server.edit("1.vcf", vcard("Ada L", "ORG:A"))
    stage.sync()
    person = stage.person()
    stage.edit(person, organization="B", jobTitle="T")
    stage.server.edit(href, vcard("Ada L", "ORG:C", "NICKNAME:N"))
    assert counts(stage.sync()) == {"updated_locally": 1, "updated_remotely": 1, "conflicts": 1}
    assert counts(stage.sync()) == {}
    person.refresh_from_db()
    assert (person.organization, person.job_title, person.nickname) == ("B", "T", "N")
    text = stage.card_of(person)
    assert "ORG:C" in text
    assert "TITLE:T" in text
    [conflict] = Conflict.objects.owned_by(stage.owner)
    assert conflict.fields == [{"field": "organization", "base": "A", "local": "B", "remote": "C"}]


def test_one_of_twenty_deleted_remotely(stage: Stage) -> None:
    hrefs = [stage.server.edit(f"{n}.vcf", vcard(f"P{n} X", uid=str(n))) for n in range(20)]
    stage.sync()
    stage.server.remove(hrefs[3])
    assert counts(stage.sync()) == {"updated_locally": 1}
    gone = Person.objects.owned_by(stage.owner).deleted().get()
    assert gone.name == "P3"
    assert counts(stage.sync()) == {}


def test_a_guarded_deletion(stage: Stage) -> None:
    hrefs = [stage.server.edit(f"{n}.vcf", vcard(f"P{n} X", uid=str(n))) for n in range(20)]
    stage.sync()
    for href in hrefs[:7]:
        stage.server.remove(href)
    run = stage.sync()
    assert counts(run) == {"conflicts": 7}
    assert not Person.objects.owned_by(stage.owner).deleted().exists()
    assert stage.reload().pause == "deletions_held"
    assert counts(stage.sync()) == {}


def test_manual_mode_keeps_them_pending(alice: User) -> None:
    stage = Stage(alice, import_mode="manual")
    for number in range(250):
        stage.server.edit(f"{number}.vcf", vcard(f"P{number} X"))
    run = stage.sync()
    assert (counts(run), run.pending_imports) == ({}, 250)
    assert stage.requests() == ["changes", *["multiget"] * 5]
    assert counts(stage.sync()) == {}
    assert PendingImport.objects.owned_by(alice).count() == 250


@pytest.mark.parametrize("fault", ["kill_before", "kill_after", "lose_before", "lose_after"])
def test_a_create_of_unknown_outcome_is_not_doubled(stage: Stage, fault: Any) -> None:
    stage.sync()
    stage.api.ok("POST", "/api/people", {"name": "Bob"}, status=201)
    stage.requests()
    stage.server.faults[2] = fault
    with suppress(Killed):
        stage.sync()
    stage.sync()
    stage.sync()
    assert len(stage.server.cards) == 1
    assert counts(stage.sync()) == {}
    assert Person.objects.owned_by(stage.owner).count() == 1
