"""Scenarios of the sync over a book in memory, which misbehaves as real servers do."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from carddav.client import BookGoneError, BusyError, LoginRefusedError, Outcome
from carddav.models import Conflict, Mapping, OtherCard, PendingImport
from people.models import Group, Membership, Person
from people.photos.files import photo_hash
from tests.carddav.sync.memory_book import Killed
from tests.carddav.sync.stage import Stage, counts, vcard
from tests.pictures import picture, upload

GROUP_4 = "BEGIN:VCARD\r\nVERSION:4.0\r\nKIND:group\r\nUID:g4\r\nFN:Friends\r\nMEMBER:urn:uuid:{uid}\r\nEND:VCARD\r\n"
GROUP_APPLE = (
    "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:g3\r\nN:Family\r\nFN:Family\r\nX-ADDRESSBOOKSERVER-KIND:group\r\n"
    "X-ADDRESSBOOKSERVER-MEMBER:urn:uuid:{uid}\r\nEND:VCARD\r\n"
)
UID = "6d7f6a0a-3a49-4b58-8a1b-d9a1a1a1a1a1"


@pytest.fixture
def stage(alice: User) -> Stage:
    return Stage(alice)


def failing(error: Exception, *, at: str) -> Callable[[str], None]:
    """Raise on requests of this kind."""

    def fail(what: str) -> None:
        if what.startswith(at):
            raise error

    return fail


def test_card_without_uid_two_syncs_imported_once(stage: Stage) -> None:
    stage.server.edit("1.vcf", vcard("Ada L"))
    assert counts(stage.sync()) == {"imported": 1}
    assert counts(stage.sync()) == {}


def test_one_unparsable_card_of_100(stage: Stage) -> None:
    for number in range(99):
        stage.server.edit(f"{number}.vcf", vcard(f"P{number} X"))
    bad = stage.server.edit("bad.vcf", "BEGIN:VCARD\r\nVERSION:3.0\r\nNOTE:nobody\r\nEND:VCARD\r\n")
    run = stage.sync()
    assert counts(run) == {"imported": 99, "errors": 1}
    assert len(run.error_messages) == 1
    stage.requests()
    assert counts(stage.sync()) == {}
    stage.connection.refresh_from_db()
    type(stage.connection).objects.owned_by(stage.owner).update(last_reconcile_at=None)
    assert counts(stage.sync()) == {}
    assert stage.requests() == ["changes", "changes"]
    stage.server.edit(bad, vcard("Bob X"))
    assert counts(stage.sync()) == {"imported": 1}
    assert not OtherCard.objects.owned_by(stage.owner).exists()


@pytest.mark.parametrize(("text", "name"), [(GROUP_4, "Friends"), (GROUP_APPLE, "Family")])
def test_group_cards_of_both_dialects(stage: Stage, text: str, name: str) -> None:
    stage.server.edit("1.vcf", vcard("Ada L", uid=UID))
    href = stage.server.edit("g.vcf", text.format(uid=UID))
    assert counts(stage.sync()) == {"imported": 1}
    [member] = Membership.objects.owned_by(stage.owner).filter(group__name=name)
    assert member.person.name == "Ada"
    stage.requests()
    assert counts(stage.sync()) == {}
    assert stage.requests() == ["changes"]
    assert stage.server.cards[href].text == text.format(uid=UID)
    assert not PendingImport.objects.owned_by(stage.owner).exists()
    stage.edit(stage.person(), groupIds=[])
    stage.sync()
    assert not Membership.objects.owned_by(stage.owner).exists()
    assert Group.objects.owned_by(stage.owner).active().filter(name=name).exists()


def test_no_sync_collection(stage: Stage) -> None:
    stage.server.has_sync = False
    href = stage.server.edit("1.vcf", vcard("Ada L"))
    stage.server.edit("2.vcf", vcard("Bob L"))
    stage.sync()
    stage.requests()
    assert counts(stage.sync()) == {}
    assert stage.requests() == ["changes"]
    stage.server.edit(href, vcard("Ada L", "NOTE:later"))
    assert counts(stage.sync()) == {"updated_locally": 1}
    stage.server.remove(href)
    assert counts(stage.sync()) == {"updated_locally": 1}


def test_a_full_list_where_a_delta_was_expected(stage: Stage) -> None:
    hrefs = [stage.server.edit(f"{number}.vcf", vcard(f"P{number} X")) for number in range(10)]
    stage.sync()
    stage.sync()
    stage.server.remove(hrefs[0])
    stage.server.gone.clear()  # as a server says nothing of it that has forgotten the token
    stage.server.forgets_token = True
    assert counts(stage.sync()) == {"updated_locally": 1}
    assert Person.objects.owned_by(stage.owner).active().count() == 9


def test_one_of_the_hrefs_vanishes_before_it_is_fetched(stage: Stage) -> None:
    for number in range(20):
        stage.server.edit(f"{number}.vcf", vcard(f"P{number} X"))

    def vanish(what: str) -> None:
        if what.startswith("multiget"):
            stage.server.cards.pop("/ada/book/3.vcf", None)

    stage.server.on_request = vanish
    run = stage.sync()
    assert (counts(run), run.error_messages) == ({"imported": 19}, [])


def test_etag_moves_and_content_is_equal(stage: Stage) -> None:
    href = stage.server.edit("1.vcf", vcard("Ada L", "TEL:1"))
    stage.sync()
    stage.server.edit(href, vcard("Ada L", "TEL:1"))
    assert counts(stage.sync()) == {}
    stage.requests()
    stage.sync()
    assert stage.requests() == ["changes"]


def test_put_refused_for_content(stage: Stage) -> None:
    stage.sync()
    for name in ("Good", "Bad", "Fine"):
        stage.api.ok("POST", "/api/people", {"name": name}, status=201)
    stage.server.refuses = lambda text: Outcome.REFUSED if "FN:Bad" in text else None
    run = stage.sync()
    assert counts(run) == {"exported": 2, "errors": 1}
    assert "Bad" in run.error_messages[0]
    assert not Conflict.objects.owned_by(stage.owner).exists()
    stage.requests()
    assert counts(stage.sync()) == {}
    assert stage.requests() == ["changes"]
    stage.edit(stage.person("Bad"), name="Better")
    assert counts(stage.sync()) == {"exported": 1}


def test_412_that_is_no_conflict(stage: Stage) -> None:
    href = stage.server.edit("1.vcf", vcard("Ada L"))
    stage.sync()
    stage.edit(stage.person(), notes="too long")
    stage.server.refuses = lambda text: Outcome.CHANGED if "too long" in text else None
    run = stage.sync()
    assert counts(run) == {"errors": 1}
    assert not Conflict.objects.owned_by(stage.owner).exists()
    assert counts(stage.sync()) == {}
    assert stage.server.cards[href].text == vcard("Ada L")


def test_no_room_for_new_cards(stage: Stage) -> None:
    href = stage.server.edit("1.vcf", vcard("Ada L"))
    stage.sync()
    for name in ("Bob", "Cy"):
        stage.api.ok("POST", "/api/people", {"name": name}, status=201)
    stage.server.edit(href, vcard("Ada L", "NOTE:pulled"))
    stage.server.refuses = lambda text: Outcome.FULL
    run = stage.sync()
    assert counts(run) == {"updated_locally": 1, "errors": 1}
    stage.server.refuses = lambda text: None
    assert counts(stage.sync()) == {"exported": 2}


def test_an_address_book_that_can_only_be_read(stage: Stage) -> None:
    href = stage.server.edit("1.vcf", vcard("Ada L"))
    stage.sync()
    stage.edit(stage.person(), notes="mine")
    stage.server.edit(href, vcard("Ada L", "ORG:theirs"))
    stage.server.refuses = lambda text: Outcome.READ_ONLY
    assert counts(stage.sync()) == {"updated_locally": 1, "errors": 1}
    assert stage.person().organization == "theirs"
    assert stage.person().notes == "mine"


def test_429_with_retry_after(stage: Stage) -> None:
    for number in range(60):
        stage.server.edit(f"{number}.vcf", vcard(f"P{number} X"))
    seen: list[str] = []

    def fail_second(what: str) -> None:
        if what.startswith("multiget"):
            seen.append(what)
            if len(seen) == 2:
                raise BusyError(status=429, retry_after=300)

    stage.server.on_request = fail_second
    run = stage.sync()
    assert run.code == "busy"
    assert Person.objects.owned_by(stage.owner).count() == 50
    connection = stage.reload()
    assert connection.not_before is not None
    assert 290 < (connection.not_before - timezone.now()).total_seconds() <= 300
    stage.server.on_request = lambda what: None
    stage.requests()
    assert stage.sync().code == "busy"
    assert stage.requests() == []
    type(connection).objects.owned_by(stage.owner).update(not_before=None)
    assert counts(stage.sync()) == {"imported": 10}


def test_wrong_password(stage: Stage) -> None:
    stage.server.on_request = failing(LoginRefusedError(status=401), at="changes")
    run = stage.sync()
    assert run.code == "auth"
    assert stage.requests() == ["changes"]
    assert stage.reload().pause == "auth"
    stage.server.on_request = lambda what: None
    assert stage.sync().code == "auth"
    assert stage.requests() == []
    type(stage.connection).objects.owned_by(stage.owner).update(pause="")
    assert stage.sync().code == ""


def test_chosen_book_removed_on_the_server(stage: Stage) -> None:
    stage.server.edit("1.vcf", vcard("Ada L"))
    stage.sync()
    stage.server.on_request = failing(BookGoneError(status=404), at="changes")
    run = stage.sync()
    assert run.code == "book_gone"
    assert Person.objects.owned_by(stage.owner).active().count() == 1
    assert not Conflict.objects.owned_by(stage.owner).exists()


def test_an_empty_book_deletes_nothing(stage: Stage) -> None:
    hrefs = [stage.server.edit(f"{number}.vcf", vcard(f"P{number} X")) for number in range(3)]
    stage.sync()
    for href in hrefs:
        stage.server.remove(href)
    assert counts(stage.sync()) == {"conflicts": 3}
    conflicts = stage.api.ok("GET", "/api/carddav/conflicts")["conflicts"]
    assert {conflict["kind"] for conflict in conflicts} == {"remote_deleted"}
    for conflict, resolution in zip(conflicts, ["keep_remote", "keep_local", "merged"], strict=True):
        path = f"/api/carddav/conflicts/{conflict['id']}/resolve"
        stage.api.ok("POST", path, {"resolution": resolution})
    assert stage.reload().pause == ""
    assert counts(stage.sync()) == {"exported": 2}
    assert Person.objects.owned_by(stage.owner).active().count() == 2
    assert counts(stage.sync()) == {}


def test_a_card_that_comes_back_ends_the_conflict(stage: Stage) -> None:
    href = stage.server.edit("1.vcf", vcard("Ada L"))
    stage.sync()
    stage.server.remove(href)
    stage.sync()
    assert Conflict.objects.owned_by(stage.owner).still_open().exists()
    stage.server.edit(href, vcard("Ada L", "NOTE:back"))
    stage.sync()
    assert stage.person().notes == "back"
    assert not Conflict.objects.owned_by(stage.owner).still_open().exists()


def test_person_edited_while_the_run_pushes_it(stage: Stage) -> None:
    stage.server.edit("1.vcf", vcard("Ada L"))
    stage.sync()
    person = stage.person()
    stage.edit(person, notes="first")

    def edit_once(what: str) -> None:
        if what.startswith("put"):
            stage.server.on_request = lambda what: None
            stage.edit(person, notes="second")

    stage.server.on_request = edit_once
    assert counts(stage.sync()) == {"updated_remotely": 1}
    assert "NOTE:first" in stage.card_of(person)
    assert counts(stage.sync()) == {"updated_remotely": 1}
    assert "NOTE:second" in stage.card_of(person)
    assert stage.person().notes == "second"
    assert counts(stage.sync()) == {}


def test_server_ignores_if_none_match(stage: Stage) -> None:
    stage.server.heeds_conditions = False
    foreign = stage.server.edit("ada.vcf", vcard("Ada L", "NOTE:foreign"))
    stage.sync()
    for number in range(5):
        stage.api.ok("POST", "/api/people", {"name": f"Ada{number}"}, status=201)
    assert counts(stage.sync()) == {"exported": 5}
    assert len(stage.server.cards) == 6
    assert stage.server.cards[foreign].text == vcard("Ada L", "NOTE:foreign")


def test_an_update_of_unknown_outcome(stage: Stage) -> None:
    for fault in ("kill_before", "kill_after", "lose_before", "lose_after"):
        number = fault.replace("_", "")
        href = stage.server.edit(f"{number}.vcf", vcard(f"{number} L"))
        stage.sync()
        stage.edit(stage.person(number), notes="mine")
        stage.requests()
        stage.server.faults[2] = fault
        with suppress(Killed):
            stage.sync()
        stage.sync()
        assert stage.server.cards[href].text.count("NOTE:mine") == 1
        assert counts(stage.sync()) == {}
        assert stage.person(number).notes == "mine"


def test_what_the_server_drops_stays_here(stage: Stage) -> None:
    def cut(text: str) -> str:
        return "\r\n".join(line for line in text.split("\r\n") if not line.startswith(("NOTE", "CATEGORIES"))).upper()

    stage.server.spell, stage.server.gives_etag = cut, False
    stage.sync()
    body = {"name": "ADA", "notes": "kept", "emails": [{"type": "home", "email": "ada@example.org"}]}
    stage.api.ok("POST", "/api/people", body, status=201)
    assert counts(stage.sync()) == {"exported": 1}
    assert counts(stage.sync()) == {}
    person = stage.person("ADA")
    assert (person.notes, person.emails[0]["email"]) == ("kept", "ada@example.org")
    stage.edit(person, jobTitle="X")
    assert counts(stage.sync()) == {"updated_remotely": 1}
    assert counts(stage.sync()) == {}
    assert stage.person("ADA").notes == "kept"


def test_import_mode_auto_at_the_plan_limit(stage: Stage, settings: Any) -> None:
    settings.SAAS_MODE = True
    stage.owner.refresh_from_db()
    limit = stage.owner.plan_limit("people") or 0
    for number in range(limit + 7):
        stage.server.edit(f"{number}.vcf", vcard(f"P{number} X"))
    run = stage.sync()
    assert (counts(run), run.pending_imports, len(run.error_messages)) == ({"imported": limit, "errors": 1}, 7, 1)
    assert counts(stage.sync()) == {}


def test_photo_stays_what_it_was(stage: Stage) -> None:
    import base64

    packed = base64.b64encode(picture()).decode()
    href = stage.server.edit("1.vcf", vcard("Ada L", f"PHOTO;ENCODING=b;TYPE=JPEG:{packed}"))
    stage.sync()
    person = stage.person()
    assert person.photo
    stage.edit(person, notes="n")
    assert counts(stage.sync()) == {"updated_remotely": 1}
    assert packed in stage.server.cards[href].text.replace("\r\n ", "")
    stage.server.edit(href, vcard("Ada L", "NOTE:n"))
    assert counts(stage.sync()) == {"updated_locally": 1}
    assert stage.person().photo is None
    assert counts(stage.sync()) == {}


def test_a_server_that_strips_photos_causes_no_second_push(stage: Stage) -> None:
    def strip(text: str) -> str:
        return "\r\n".join(line for line in text.replace("\r\n ", "").split("\r\n") if not line.startswith("PHOTO"))

    stage.server.spell = strip
    stage.server.edit("1.vcf", vcard("Ada L"))
    stage.sync()
    person = stage.person()
    upload(stage.api, f"/api/people/{person.pk}/photo", picture())
    assert counts(stage.sync()) == {"updated_remotely": 1}
    assert counts(stage.sync()) == {}
    person.refresh_from_db()
    assert photo_hash(person.photo or "")
    stage.edit(person, notes="n")
    assert counts(stage.sync()) == {"updated_remotely": 1}
    assert stage.person().photo == person.photo


def test_too_large_with_a_photo_of_ours_goes_without_it(stage: Stage) -> None:
    stage.server.edit("1.vcf", vcard("Ada L"))
    stage.sync()
    person = stage.person()
    upload(stage.api, f"/api/people/{person.pk}/photo", picture())
    stage.edit(person, notes="n")
    stage.server.refuses = lambda text: Outcome.TOO_LARGE if "PHOTO" in text else None
    assert counts(stage.sync()) == {"updated_remotely": 1}
    assert "NOTE:n" in stage.card_of(person)
    assert counts(stage.sync()) == {}


def test_an_href_that_the_server_changed(stage: Stage) -> None:
    for number in range(10):
        stage.server.edit(f"{number}.vcf", vcard(f"P{number} X", uid=f"uid-{number}"))
    stage.sync()
    text = stage.server.cards["/ada/book/3.vcf"].text
    stage.server.remove("/ada/book/3.vcf")
    stage.server.edit("other.vcf", text)
    assert counts(stage.sync()) == {}
    assert Person.objects.owned_by(stage.owner).count() == 10
    assert Mapping.objects.owned_by(stage.owner).get(person__name="P3").href == "/ada/book/other.vcf"
    assert counts(stage.sync()) == {}


def test_a_person_that_is_not_to_be_synced(stage: Stage) -> None:
    href = stage.server.edit("1.vcf", vcard("Ada L"))
    stage.sync()
    stage.edit(stage.person(), cardDavSyncEnabled=False, notes="mine")
    stage.server.edit(href, vcard("Ada L", "ORG:theirs"))
    assert counts(stage.sync()) == {}
    assert stage.person().organization is None
    stage.edit(stage.person(), cardDavSyncEnabled=True)
    assert counts(stage.sync()) == {"updated_locally": 1, "updated_remotely": 1}
    assert stage.person().organization == "theirs"
    assert "NOTE:mine" in stage.server.cards[href].text


def test_a_dry_run_says_what_would_happen_and_changes_nothing(stage: Stage) -> None:
    hrefs = [stage.server.edit(f"{number}.vcf", vcard(f"P{number} X")) for number in range(10)]
    stage.sync()
    stage.edit(stage.person("P0"), notes="mine")
    stage.server.edit(hrefs[1], vcard("P1 X", "NOTE:theirs"))
    stage.server.remove(hrefs[2])
    stage.server.edit("new.vcf", vcard("New X"))
    stage.api.ok("POST", "/api/people", {"name": "Local"}, status=201)
    expected = {"imported": 1, "exported": 1, "updated_locally": 2, "updated_remotely": 1}
    before = {href: stored.text for href, stored in stage.server.cards.items()}
    revision = User.objects.get(pk=stage.owner.pk).revision
    assert counts(stage.sync(dry_run=True)) == expected
    assert User.objects.get(pk=stage.owner.pk).revision == revision
    assert before == {href: stored.text for href, stored in stage.server.cards.items()}
    assert counts(stage.sync()) == expected
    assert counts(stage.sync()) == {}
