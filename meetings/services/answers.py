"""Answers to proposals: accepted ones become interactions, dismissed ones are kept as hashes."""

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.utils.translation import override

from accounts.models import User
from contacts_project.kernel.errors import NO_SUCH_RECORD, FieldError
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.texts import define_text
from meetings.models import AnswerKind, MeetingAnswer, MeetingProposal, ProposedPerson
from people.dates.recurrence import fire_at
from people.dates.schedule import calendar_from_user
from people.duplicates.keys import email_key
from people.models import LookupKey
from people.scripts import is_cjk
from people.services.interactions import create_interaction
from people.services.person_writer import create_person
from people.vocabularies import InteractionKind

ALREADY_ANSWERED = define_text("already_answered", "This meeting was answered already.")
_NO_GUEST = define_text("no_such_guest", "Nobody who is unknown here was there with this address.")
_NOBODY = define_text("meeting_without_people", "Somebody of your people must have been there.")
_TITLES = {
    InteractionKind.CALL: define_text("title_call", "Call"),
    InteractionKind.MESSAGE: define_text("title_message", "Message"),
    InteractionKind.EMAIL: define_text("title_email", "E-mail"),
    InteractionKind.MEETING: define_text("title_meeting", "Meeting"),
    InteractionKind.GIFT: define_text("title_gift", "Gift"),
    InteractionKind.NOTE: define_text("title_note", "Note"),
    InteractionKind.OTHER: define_text("title_other", "Other"),
}
_NOON = 12


@dataclass(slots=True)
class Accepted:
    """What became of the ids: interactions by proposal, and the interactions (or None) of those answered before."""

    interactions: dict[UUID, UUID] = field(default_factory=dict)
    answered: dict[UUID, UUID | None] = field(default_factory=dict)


def accept_proposals(
    *,
    owner: User,
    ids: Sequence[UUID],
    kind: str,
    person_ids: Sequence[UUID] | None,
    guests: Sequence[str],
    now: dt.datetime,
) -> Accepted:
    """Log these meetings, in one write. `person_ids` replace the people of the one proposal; `guests` are addresses of
    its unknown ones, who become people.

    Raises FieldError (an id of somebody else, a guest who was not there), PlanLimitError: then nothing is done.
    """
    with account_write(owner):
        rows, accepted = _load(owner, ids)
        people = _people_of(owner, rows)
        for row in rows:
            present = list(people[row.pk] if person_ids is None else person_ids)
            present += [key for key in _add_guests(owner, row, guests, now) if key not in present]
            if not present:
                raise FieldError("personIds", _NOBODY)
            interaction = create_interaction(
                owner=owner,
                data={
                    "person_ids": present,
                    "kind": kind,
                    "at": _instant(owner, row),
                    "title": row.title or _title(owner, kind),
                },
                now=now,
            )
            accepted.interactions[row.pk] = interaction.pk
        _answer(owner, rows, AnswerKind.ACCEPTED, accepted.interactions)
    return accepted


def dismiss_proposals(*, owner: User, ids: Sequence[UUID], always: str | None) -> int:
    """Dismiss these proposals, and with `always` all of their series or title, now and later; returns how many of the
    ids were open. Raises FieldError."""
    with account_write(owner):
        rows, _ = _load(owner, ids)
        named = len(rows)
        if always is not None:
            column = f"{always}_key"
            keys = {getattr(row, column) for row in rows}
            _insert(MeetingAnswer(owner=owner, kind=AnswerKind(always), key=key) for key in sorted(keys))
            # Each is answered: who accepts one of them in another window learns that.
            rows = list(MeetingProposal.objects.owned_by(owner).filter(**{f"{column}__in": keys}))
        _answer(owner, rows, AnswerKind.DISMISSED, {})
        return named


def _load(owner: User, ids: Sequence[UUID]) -> tuple[list[MeetingProposal], Accepted]:
    """The open proposals in the order of `ids`, and those that were answered before. Raises FieldError."""
    found = MeetingProposal.objects.owned_by(owner).with_people().in_bulk(list(ids))
    answers = MeetingAnswer.objects.owned_by(owner).filter(proposal_id__in=[key for key in ids if key not in found])
    answered: dict[UUID, UUID | None] = {
        key: logged for key, logged in answers.values_list("proposal_id", "interaction_id") if key is not None
    }
    for index, key in enumerate(ids):
        if key not in found and key not in answered:
            raise FieldError(f"ids.{index}", NO_SUCH_RECORD)
    return [found[key] for key in dict.fromkeys(ids) if key in found], Accepted(answered=answered)


def _people_of(owner: User, rows: Collection[MeetingProposal]) -> dict[UUID, list[UUID]]:
    parts = ProposedPerson.objects.owned_by(owner).of_now().filter(proposal__in=[row.pk for row in rows])
    people: dict[UUID, list[UUID]] = defaultdict(list)
    for proposal, person in parts.order_by("position").values_list("proposal_id", "person_id"):
        people[proposal].append(person)
    return people


def _add_guests(owner: User, row: MeetingProposal, guests: Sequence[str], now: dt.datetime) -> list[UUID]:
    """The people with these addresses; who has none yet is created."""
    unknown = {email_key(entry["email"]): entry for entry in row.unknown}
    added: list[UUID] = []
    for index, guest in enumerate(guests):
        key = email_key(guest)
        if key is None or key not in unknown:
            raise FieldError(f"createPeople.{index}", _NO_GUEST)
        known = LookupKey.objects.filter(owner=owner, kind=LookupKey.EMAIL, key=key, person__deleted_at=None)
        person_id = known.order_by("person_id").values_list("person_id", flat=True).first()
        if person_id is None:
            entry = unknown[key]
            names = split_name(entry["name"] or entry["email"].partition("@")[0])
            data = {**names, "emails": [{"type": None, "email": entry["email"]}]}
            person_id = create_person(owner=owner, data=data, now=now).pk
        added.append(person_id)
    return list(dict.fromkeys(added))


def split_name(text: str) -> dict[str, str | None]:
    """The name of a guest: "Given Surname", "Surname, Given" as Outlook writes it, or one name alone."""
    words = " ".join(text.split())
    family, comma, given = words.partition(",")
    if comma and given.strip() and family.strip():
        return {"name": given.strip()[:100], "surname": family.strip()[:100]}
    given, _, family = words.rpartition(" ")
    if not given or is_cjk(words.replace(" ", "")):
        return {"name": words[:100]}
    return {"name": given[:100], "surname": family[:100]}


def _title(owner: User, kind: str) -> str:
    with override(owner.language):
        return str(_TITLES[InteractionKind(kind)])


def _instant(owner: User, row: MeetingProposal) -> dt.datetime:
    """The begin; noon of a whole day."""
    return row.starts_at if row.day is None else fire_at(row.day, calendar_from_user(owner).zone, _NOON)


def _answer(owner: User, rows: Sequence[MeetingProposal], kind: AnswerKind, interactions: dict[UUID, UUID]) -> None:
    _insert(
        MeetingAnswer(
            owner=owner,
            kind=kind,
            key=row.key,
            day_key=row.day_key,
            proposal_id=row.pk,
            interaction_id=interactions.get(row.pk),
        )
        for row in rows
    )
    MeetingProposal.objects.owned_by(owner).filter(pk__in=[row.pk for row in rows]).delete()


def _insert(answers: Iterable[MeetingAnswer]) -> None:
    # A key may be answered already, as a series or by an import of the account.
    MeetingAnswer.objects.bulk_create(answers, ignore_conflicts=True)


def drop_empty(owner_id: UUID) -> None:
    """Delete the open proposals with nobody left, inside an account's write."""
    rows = MeetingProposal.objects.owned_by(owner_id)
    filled = ProposedPerson.objects.owned_by(owner_id).of_now().values("proposal_id")
    if gone := list(rows.exclude(pk__in=filled).values_list("pk", flat=True)):
        rows.filter(pk__in=gone).delete()
