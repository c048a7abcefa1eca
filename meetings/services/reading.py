"""Reads a source, and brings its open proposals up to date. No transaction is open while the network is asked."""

import datetime as dt
import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_write
from contacts_project.kernel.text_forms import fold_email
from meetings.calendars.occurrences import Occurrence, Zoning, occurrences
from meetings.calendars.parser import (
    CalendarFile,
    NotCalendarError,
    TooManyEventsError,
    read_calendars,
)
from meetings.calendars.recurrence import BudgetSpentError
from meetings.client import caldav
from meetings.client.download import Login, Reading, download
from meetings.decisions import Answered, Known, People, Proposal, open_proposals, propose
from meetings.errors import CalendarError
from meetings.models import (
    CalendarSource,
    MeetingAnswer,
    MeetingProposal,
    ProposedPerson,
    SourceKind,
    SourceQuerySet,
    SourceState,
)
from people.dates.schedule import calendar_from_user
from people.duplicates.keys import email_key
from people.mentions import Topic, silence
from people.models import ImportantDate, LookupKey, Person

log = logging.getLogger(__name__)
K = TypeVar("K")

LEASE = dt.timedelta(minutes=10)
READING_INTERVAL = dt.timedelta(hours=1)
_MAX_FAILURES = 6  # an hour doubled so often is more than a day
_MAX_INTERVAL = dt.timedelta(days=1)
# How far ahead the end of the next event is looked for; a file is read whole at least so often.
_HORIZON = dt.timedelta(days=7)
_LONGEST = dt.timedelta(days=31)
_CHUNK = 500
# Those of a stored proposal that are the ones of a Proposal.
_COLUMNS = ("day_key", "series_key", "title_key", "title", "location", "starts_at", "ends_at", "day")


class _LeaseLostError(Exception):
    """The source was removed, or got another address, while it was read."""


def read_source(source_id: UUID, *, now: dt.datetime) -> bool:
    """Read a source that is due; returns whether it was. May run twice, or be killed: the lease ends by itself."""
    rows: SourceQuerySet = CalendarSource.unscoped.rows().filter(pk=source_id)
    claim = rows.filter(next_read_at__lte=now).acquire(LEASE, clock=now)
    if claim is None:
        return False
    ours = rows.held_by(claim)
    source = ours.select_related("owner").first()
    if source is None:
        return False
    try:
        changes = _read(source, ours, now)
    except (_LeaseLostError, AccountGoneError):
        return False
    except CalendarError as error:
        changes = _failure(source, error, now)
    except Exception:  # whatever it is, the source must not be read again at once
        log.exception("a calendar could not be read", extra={"source": str(source.pk)})
        changes = _failure(source, CalendarError("interrupted"), now)
    ours.release(**changes)
    return True


def _failure(source: CalendarSource, error: CalendarError, now: dt.datetime) -> dict[str, object]:
    failures = min(source.failures + 1, _MAX_FAILURES)
    return {
        "state": SourceState.FAILING,
        "failures": failures,
        "last_error_code": error.code,
        "last_error": error.text,
        "next_read_at": now + min(READING_INTERVAL * 2 ** (failures - 1), _MAX_INTERVAL),
    }


def _read(source: CalendarSource, ours: SourceQuerySet, now: dt.datetime) -> dict[str, object]:
    """Ask the server, and write what follows; returns the columns of a success. Raises CalendarError."""
    owner = source.owner
    is_fresh = source.fresh_until is not None and now < source.fresh_until and source.read_revision == owner.revision
    reading = _fetch(source, source.validators if is_fresh else {})
    changes: dict[str, object] = {
        "state": SourceState.OK,
        "failures": 0,
        "last_error_code": "",
        "last_error": "",
        "last_read_at": now,
        "next_read_at": now + READING_INTERVAL,
        "validators": reading.validators,
    }
    if source.kind == SourceKind.CALDAV:
        changes["calendars"] = reading.calendars
    if reading.files is None:
        return changes
    try:
        calendar = read_calendars(reading.files)
        zone = calendar_from_user(owner).zone
        zoning = Zoning(floating=calendar.zone or zone, days=zone)
        found = list(occurrences(calendar.events, zoning, _since(source), now))
    except NotCalendarError as error:
        raise CalendarError("not_calendar") from error
    except (TooManyEventsError, BudgetSpentError) as error:
        raise CalendarError("too_large") from error
    people = _load_people(owner, calendar, found)
    revision = _update_proposals(owner, source, propose(found, people, now), found, ours, now)
    return {
        **changes,
        "broken": calendar.broken,
        "fresh_until": _fresh_until(calendar, zoning, now),
        # Of the account as it was before the people were read: what has changed since is looked at again.
        "read_revision": owner.revision if revision is None else revision,
    }


def _chunks(keys: Sequence[K]) -> Iterator[Sequence[K]]:
    return (keys[start : start + _CHUNK] for start in range(0, len(keys), _CHUNK))


def _since(source: CalendarSource) -> dt.datetime:
    return source.created_at - dt.timedelta(days=source.days_back)


def _fetch(source: CalendarSource, validators: dict[str, str]) -> Reading:
    login = Login(source.url, source.username, source.password)
    if source.kind == SourceKind.CALDAV:
        return caldav.read_calendars(login, source.chosen, validators, _since(source), source.owner_id)
    return download(login, validators, source.owner_id)


def _fresh_until(calendar: CalendarFile, zoning: Zoning, now: dt.datetime) -> dt.datetime:
    """When the next event ends, at most a week ahead."""
    horizon = now + _HORIZON
    try:
        ahead = occurrences(calendar.events, zoning, now - _LONGEST, horizon)
        return min((row.ends_at for row in ahead if row.ends_at > now), default=horizon)
    except BudgetSpentError:
        return now


def _load_people(owner: User, calendar: CalendarFile, found: Sequence[Occurrence]) -> People:
    """The people of the account, as far as these events ask."""
    named: dict[UUID, Known] = {}
    me: UUID | None = None
    rows = Person.objects.owned_by(owner).active()
    for key, name, surname, quiet, deathday, is_me in rows.values_list(
        "pk", "name", "surname", "quiet", "deathday", "is_me"
    ):
        is_silent = silence(Topic.CONTACT, quiet=quiet, deathday=deathday, is_me=is_me) is not None
        named[key] = Known(key, name or "", surname or "", is_silent)
        me = key if is_me else me
    own = {fold_email(address) for address in (owner.email, owner.proven_email) if address}
    if me is not None:
        own |= {fold_email(entry["email"]) for entry in rows.get(pk=me).emails}
    keys = {
        fold_email(attendee.email): email_key(attendee.email)
        for event in calendar.events
        for attendee in event.attendees
        if attendee.email
    }
    by_key: dict[str, list[Known]] = defaultdict(list)
    for chunk in _chunks(sorted({key for key in keys.values() if key})):
        matches = LookupKey.objects.filter(
            owner=owner, kind=LookupKey.EMAIL, key__in=chunk, person__deleted_at=None
        ).order_by("key", "person_id")
        for found_key, person_id in matches.values_list("key", "person_id"):
            by_key[found_key] += [named[person_id]] if person_id in named else []
    by_email = {address: by_key[key] for address, key in keys.items() if key and key in by_key}
    days: dict[UUID, set[int]] = defaultdict(set)
    if any(occurrence.day is not None for occurrence in found):
        dates = ImportantDate.objects.owned_by(owner).active()
        for person_id, day in dates.values_list("person_id", "month_day"):
            days[person_id].add(day)
    return People(by_email, list(named.values()), frozenset(own - {""}), days)


def _update_proposals(
    owner: User,
    source: CalendarSource,
    proposals: list[Proposal],
    found: Iterable[Occurrence],
    ours: SourceQuerySet,
    now: dt.datetime,
) -> int | None:
    """Make the source's open proposals those that nobody has answered.

    Returns the revision of the write; None if there was none, or another one since the people were read.
    """
    uids = {proposal.series_key for proposal in proposals}
    present = {row.key for row in found if row.series_key in uids}
    wanted = _unanswered(owner, proposals, present)
    stored = _stored(owner, source)
    taken = _taken(owner, source, wanted)
    wanted = {key: proposal for key, proposal in wanted.items() if key not in taken}
    if wanted == stored:
        return None
    with account_write(owner) as write:
        # Under the lock: another reading, or an answer, may have come first.
        if not ours.renew(LEASE, clock=now):
            raise _LeaseLostError
        wanted = _unanswered(owner, list(wanted.values()), present)
        taken = _taken(owner, source, wanted)
        known = set(Person.objects.owned_by(owner).active().filter(pk__in=_ids(wanted)).values_list("pk", flat=True))
        rows = {row.key: row for row in MeetingProposal.objects.owned_by(owner).filter(source=source)}
        changed: list[tuple[Proposal, list[tuple[UUID, str]]]] = []
        for key, proposal in wanted.items():
            people = [pair for pair in proposal.people if pair[0] in known]
            if key not in taken and people and stored.get(key) != proposal:
                changed.append((proposal, people))
        _store(owner, source, rows, changed, now)
        if gone := [row.pk for key, row in rows.items() if key not in wanted]:
            MeetingProposal.objects.owned_by(owner).filter(pk__in=gone).delete()
        # Where another write came between, what it changed is looked at by the next reading.
        return write.revision if write.revision == owner.revision + 1 else None


def _ids(proposals: dict[str, Proposal]) -> set[UUID]:
    return {key for proposal in proposals.values() for key, _ in proposal.people}


def _unanswered(owner: User, proposals: list[Proposal], present: Collection[str]) -> dict[str, Proposal]:
    """Asks for the answers to these proposals alone: what was answered before costs nothing."""
    keys = {key for row in proposals for key in (row.key, row.series_key, row.title_key)}
    answers = MeetingAnswer.objects.owned_by(owner)
    answered: set[str] = set()
    for chunk in _chunks(sorted(keys)):
        answered.update(answers.filter(key__in=chunk).values_list("key", flat=True))
    days: dict[str, set[str]] = defaultdict(set)
    for chunk in _chunks(sorted({row.day_key for row in proposals})):
        for day, key in answers.filter(day_key__in=chunk).values_list("day_key", "key"):
            days[day].add(key)
    return {row.key: row for row in open_proposals(proposals, Answered(answered, days), present)}


def _taken(owner: User, source: CalendarSource, wanted: Collection[str]) -> set[str]:
    """The keys that another source proposes."""
    rows = MeetingProposal.objects.owned_by(owner).exclude(source=source)
    found: set[str] = set()
    for chunk in _chunks(sorted(wanted)):
        found.update(rows.filter(key__in=chunk).values_list("key", flat=True))
    return found


def _stored(owner: User, source: CalendarSource) -> dict[str, Proposal]:
    """The open proposals as they are stored."""
    people: dict[UUID, list[tuple[UUID, str]]] = defaultdict(list)
    parts = ProposedPerson.objects.owned_by(owner).filter(proposal__source=source).order_by("position")
    for proposal, person, by in parts.values_list("proposal_id", "person_id", "by"):
        people[proposal].append((person, by))
    return {
        row.key: Proposal(
            row.key,
            row.day_key,
            row.series_key,
            row.title_key,
            row.title,
            row.location,
            row.starts_at,
            row.ends_at,
            row.day,
            tuple(people[row.pk]),
            tuple((entry["email"], entry["name"] or "") for entry in row.unknown),
        )
        for row in MeetingProposal.objects.owned_by(owner).filter(source=source)
    }


def _store(
    owner: User,
    source: CalendarSource,
    rows: Mapping[str, MeetingProposal],
    proposals: Sequence[tuple[Proposal, Sequence[tuple[UUID, str]]]],
    now: dt.datetime,
) -> None:
    """Write these proposals with their people; `rows` are those that are stored, by key."""
    new: list[MeetingProposal] = []
    changed: list[MeetingProposal] = []
    parts: list[ProposedPerson] = []
    for proposal, people in proposals:
        row = rows.get(proposal.key)
        if row is None:
            row = MeetingProposal(owner=owner, source=source, key=proposal.key)
            new.append(row)
        else:
            changed.append(row)
        for column in _COLUMNS:
            setattr(row, column, getattr(proposal, column))
        row.unknown = [{"email": email, "name": name or None} for email, name in proposal.unknown]
        row.updated_at = now
        parts += [
            ProposedPerson(owner=owner, proposal=row, person_id=key, by=by, position=position)
            for position, (key, by) in enumerate(people)
        ]
    MeetingProposal.objects.bulk_create(new, batch_size=_CHUNK)
    MeetingProposal.objects.owned_by(owner).bulk_update(changed, [*_COLUMNS, "unknown", "updated_at"])
    for chunk in _chunks([row.pk for row in changed]):
        ProposedPerson.objects.owned_by(owner).filter(proposal__in=chunk).delete()
    ProposedPerson.objects.bulk_create(parts, batch_size=_CHUNK)
