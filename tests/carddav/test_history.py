"""Finished runs and decided conflicts are deleted after 90 days; what is open or still needed is kept."""

import datetime as dt

from django.utils import timezone

from accounts.models import User
from carddav.models import Conflict, JournalEntry, Run, Tombstone
from carddav.tasks import purge_history
from people.models import Person
from tests.builders import make_person
from tests.carddav.builders import make_conflict, make_connection, make_mapping, make_run


def test_old_history_is_deleted_unless_still_needed(alice: User) -> None:
    connection = make_connection(alice)
    now = timezone.now()
    for age, is_kept in ((80, True), (100, False)):
        then = now - dt.timedelta(days=age)
        name = "kept" if is_kept else "forgotten"
        run = make_run(connection)
        Run.objects.owned_by(alice).filter(pk=run.pk).update(started_at=then, message=name)
        conflict = make_conflict(make_mapping(connection, make_person(alice, name=name)))
        Conflict.objects.owned_by(alice).filter(pk=conflict.pk).update(resolved_at=then, remote_raw=name)
        open_one = make_conflict(make_mapping(connection, make_person(alice, name=f"open {name}")))
        Conflict.objects.owned_by(alice).filter(pk=open_one.pk).update(created_at=then, remote_raw="kept")
        for state in ("gone", "kept", "to_delete"):
            stone = Tombstone.objects.create(
                owner=alice,
                connection=connection,
                href=f"/{name}-{state}",
                href_key=f"/{name}-{state}",
                remote_raw=name if state == "gone" else "kept",
                state=state,
            )
            Tombstone.objects.owned_by(alice).filter(pk=stone.pk).update(updated_at=then)
        for state in ("done", "prepared"):
            entry = JournalEntry.objects.create(
                owner=alice,
                connection=connection,
                op="update",
                href="/1",
                href_key=f"/{name}-{state}",
                body=name if state == "done" else "kept",
                state=state,
            )
            JournalEntry.objects.owned_by(alice).filter(pk=entry.pk).update(updated_at=then)
    for _ in range(2):
        purge_history()
        assert [str(run.message) for run in Run.objects.owned_by(alice)] == ["kept"]
        assert {row.remote_raw for row in Conflict.objects.owned_by(alice)} == {"kept"}
        assert Conflict.objects.owned_by(alice).count() == 3
        assert {row.remote_raw for row in Tombstone.objects.owned_by(alice)} == {"kept"}
        assert {row.body for row in JournalEntry.objects.owned_by(alice)} == {"kept"}
    assert Person.objects.owned_by(alice).count() == 4
