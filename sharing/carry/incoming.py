"""Changes of the share, carried to one member: people whom others added, changed or took out."""

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from contacts_project.kernel.json import JsonObject
from sharing.carry.batch import Batch
from sharing.carry.copies import close_question, create_people, link_people
from sharing.carry.matching import find_matches
from sharing.decisions import Match
from sharing.models import CopyState, Newcomers, Reason, SharedCopy, SharedPerson


def take_in(batch: Batch, limit: int) -> list[SharedCopy]:
    """Take the next changed documents, at most `limit`; returns the linked copies that have to be merged.

    `membership.received` is set to the last one, or to the share's number if there are no more.
    """
    membership = batch.membership
    rows = SharedPerson.unscoped.rows().filter(share=batch.share, sequence__gt=membership.received)
    documents = list(rows.order_by("sequence")[:limit])
    copies = {copy.shared_id: copy for copy in batch.copies().filter(shared__in=documents)}
    kept = _kept_people(batch, documents)
    newcomers, linked = [], []
    for document in documents:
        copy = copies.get(document.pk)
        if copy is None:
            newcomers += [] if document.is_gone else [document]
        elif copy.state == CopyState.LINKED:
            _ask(batch, copy, document, kept)
            linked.append(copy)
        elif document.is_gone and copy.state in {CopyState.WAITING, CopyState.SKIPPED}:
            copy.delete()
    if newcomers:
        take_newcomers(batch, newcomers)
    batch.is_visible |= bool(documents) or membership.received < batch.share.sequence
    membership.received = documents[-1].sequence if len(documents) == limit else batch.share.sequence
    return linked


def _kept_people(batch: Batch, documents: Iterable[SharedPerson]) -> dict[UUID, UUID]:
    """Who here is somebody into whom one of these was merged, by the id of the document."""
    merged_into = {document.merged_into_id for document in documents if document.merged_into_id}
    rows = batch.linked().filter(shared__in=merged_into, person__isnull=False)
    return dict(rows.values_list("shared_id", "person_id")) if merged_into else {}


def _ask(batch: Batch, copy: SharedCopy, document: SharedPerson, kept: Mapping[UUID, UUID]) -> None:
    """Ask what becomes of a person whom somebody else has taken out or merged, or take the question back."""
    is_out = document.out_by_id not in {None, batch.member.pk}
    if is_out and copy.reason and (copy.by_id, copy.reason_at) == (document.out_by_id, document.out_at):
        return  # it is asked already
    if is_out and document.out_sequence > copy.out_seen:
        person_id = kept.get(document.merged_into_id) if document.merged_into_id else None
        copy.reason = Reason.MERGED if person_id else Reason.TAKEN_OUT
        copy.candidates = [_candidate(person_id, 1.0)] if person_id else []
        copy.reason_at, copy.by_id = document.out_at, document.out_by_id
        copy.save(update_fields=["reason", "candidates", "reason_at", "by", "updated_at"])
    elif copy.reason:
        close_question(copy)


def take_newcomers(
    batch: Batch, documents: Sequence[SharedPerson], matches: Mapping[UUID, Match] | None = None
) -> None:
    """People whom others have added come by themselves, or wait: all of them during the review and where the member
    wants to be asked, else those of whom it is not sure who they are. `matches`: whom they may be, if that is known."""
    matches = find_matches(batch.owner, documents) if matches is None else matches
    is_asking = batch.membership.reviewed_at is None or batch.membership.newcomers == Newcomers.ASK
    links: list[tuple[SharedCopy, UUID]] = []
    new, waiting = [], []
    for document in documents:
        match, copy = matches[document.pk], _copy_of(batch, document)
        if is_asking or match.is_unsure:
            waiting.append(_waiting(copy, document, match))
        elif match.link:
            links.append((copy, match.link))
        else:
            new.append(copy)
    SharedCopy.objects.bulk_create(waiting)
    link_people(batch, links)
    if new:
        create_people(batch, new)
    batch.is_visible = True


def _copy_of(batch: Batch, document: SharedPerson) -> SharedCopy:
    return SharedCopy(owner=batch.owner, membership=batch.membership, shared=document, by_id=document.changed_by_id)


def _waiting(copy: SharedCopy, document: SharedPerson, match: Match) -> SharedCopy:
    """The copy as it waits, naming whom it may be."""
    copy.state, copy.reason_at = CopyState.WAITING, document.created_at
    copy.reason = Reason.UNSURE if match.is_unsure else Reason.PROPOSED
    copy.person_id = match.link
    copy.candidates = [_candidate(key, score) for key, score in match.candidates]
    return copy


def _candidate(person_id: UUID, score: float) -> JsonObject:
    return {"personId": str(person_id), "score": score}


def named_people(copies: Iterable[SharedCopy]) -> set[UUID]:
    """The people of one's own whom open items name."""
    found = {UUID(candidate["personId"]) for copy in copies for candidate in copy.candidates}
    return found | {copy.person_id for copy in copies if copy.person_id}
