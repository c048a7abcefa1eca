"""Meetings of a calendar of 20,000 events in an account of 10,000 people: CPU time of a reading, its statements and
bytes.

The server of the file runs in this process: its part of the CPU time is to write the file once. One event in ten is of
the last month, one in three names somebody of the people.
"""

import datetime as dt
import time
from collections.abc import Callable
from itertools import islice

from django.test import override_settings
from django.utils import timezone

from meetings.calendars.parser import MAX_EVENTS
from meetings.models import CalendarSource, MeetingProposal
from meetings.services.reading import read_source
from people.models import Person
from tests.bench.figures import Figure, SharedData, query_count
from tests.bench.people import large_account
from tests.bench.requests import Caller, measured
from tests.loopback import Received, Recorder, Reply, recording_server
from tests.meetings.calendars import attendee, event, ics, utc

_ETAG = '"1"'
_HOUR = dt.timedelta(hours=1)


def meetings(shared: SharedData) -> list[Figure]:
    """A first reading, a reading with nothing new by ETag and of the whole file, and the list of proposals."""
    owner = large_account(shared)
    now = timezone.now()
    people = Person.objects.owned_by(owner).active().order_by("pk")
    addresses = [person.emails[0]["email"] for person in islice(people.iterator(), 1_000)]
    data = _make_file(addresses, now)
    networks = override_settings(OUTBOUND_ALLOWED_NETWORKS=["127.0.0.0/8"], OUTBOUND_ALLOWED_PORTS=["*"])
    with networks, recording_server() as recorder:
        recorder.reply = _serve(data)
        source = CalendarSource.objects.create(
            owner=owner, name="Work", kind="ics", url=f"{recorder.url}/calendar.ics", created_at=now
        )

        def read(at: dt.datetime) -> None:
            CalendarSource.objects.owned_by(owner).filter(pk=source.pk).update(next_read_at=at)
            assert read_source(source.pk, now=at)

        found = [_once(f"first read of {MAX_EVENTS:,} events", lambda: read(now), recorder)]
        count = MeetingProposal.objects.owned_by(owner).count()
        later = now + dt.timedelta(minutes=1)
        found.append(_once("read again with nothing new, by ETag", lambda: read(later), recorder))
        # An event has ended since: the file is read whole.
        changed = now + dt.timedelta(days=8)
        found.append(_once("read again with nothing new, whole", lambda: read(changed), recorder))
        assert MeetingProposal.objects.owned_by(owner).count() == count > 0
        caller = Caller(owner)
        found.append(
            measured(
                "meetings: page of 100 proposals",
                lambda: caller.ok("GET", "/api/meeting-proposals"),
                note=f"of {count:,}",
            )
        )
        source.delete()
    return found


def _make_file(addresses: list[str], now: dt.datetime) -> bytes:
    """Events that ended: a tenth within a month, the others in the ten years before."""
    events = []
    for number in range(MAX_EVENTS):
        ago = dt.timedelta(days=number % 28 + 1) if number % 10 == 0 else dt.timedelta(days=31 + number % 3_600)
        address = addresses[number % len(addresses)] if number % 3 == 0 else f"guest{number}@elsewhere.example"
        start = now - ago - number % 24 * _HOUR
        guests = (attendee("own@example.org", PARTSTAT="ACCEPTED"), attendee(address, CN=f"Guest {number}"))
        lines = (
            f"DTSTAMP:{utc(start)}",
            "STATUS:CONFIRMED",
            "LOCATION:Office",
            *guests,
            "DESCRIPTION:" + "notes " * 15,
        )
        events.append(
            event(f"{number}@example.org", utc(start), *lines, summary=f"Meeting {number}", end=utc(start + _HOUR))
        )
    return ics(*events)


def _serve(data: bytes) -> Callable[[Received], Reply]:
    def answer(request: Received) -> Reply:
        if request.headers.get("if-none-match") == _ETAG:
            return Reply(304)
        return Reply(200, {"ETag": _ETAG, "Content-Type": "text/calendar"}, data)

    return answer


def _once(name: str, read: Callable[[], None], recorder: Recorder) -> Figure:
    """One reading, which cannot be repeated: its CPU time, statements, and the bytes that the server has sent."""
    sent = 0
    answer = recorder.reply
    assert callable(answer)

    def count(request: Received) -> Reply:
        nonlocal sent
        reply = answer(request)
        sent += len(reply.body)
        return reply

    recorder.reply = count
    start = time.process_time()
    queries = query_count(read)
    seconds = time.process_time() - start
    recorder.reply = answer
    return Figure(f"meetings: {name}", seconds, queries, None, f"once; {sent:,} bytes")


BENCHES = [("meetings", meetings)]
