"""A write that is done, and the card as it was read back: each one transaction."""

from typing import Any
from uuid import UUID

from carddav.client import Card as FetchedCard
from carddav.client import href_key, same_etag
from carddav.models import (
    ConflictKind,
    JournalEntry,
    JournalOp,
    JournalState,
    Mapping,
    MappingStatus,
    PendingImport,
    Todo,
    Tombstone,
)
from carddav.sync.contacts import mapping_of, merge_contact, open_conflict_of
from carddav.sync.context import Context
from carddav.sync.fields import EMPTY, Fields, remote_fields
from carddav.sync.merge import Sides
from carddav.sync.rebase import rebased, rebased_later
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from people.vcard import VCardError, read_card

_INTENT = CompiledQuery(lambda owner_id, intent_id: JournalEntry.objects.owned_by(owner_id).filter(pk=intent_id))
_TOMBSTONES = CompiledQuery(
    lambda owner_id, person_id, href_key: Tombstone.objects.owned_by(owner_id).filter(
        person=person_id, href_key=href_key
    )
)


def _listed(model: Any) -> CompiledQuery:
    return CompiledQuery(
        lambda owner_id, connection_id, href_key: (
            model.objects.owned_by(owner_id).filter(connection=connection_id, href_key=href_key).values_list("pk")
        )
    )


# Asked before each write, since there is nearly never anything to delete or change.
_LISTED: dict[Any, CompiledQuery] = {model: _listed(model) for model in (PendingImport, Todo)}


def finish_write(context: Context, intent: JournalEntry, href: str, etag: str | None) -> None:
    """The server took it: what was sent is what both sides agree on, until the card is read back."""
    with context.write():
        mapping = mapping_of(context, intent.mapping_id)
        if mapping is None:  # the person was removed for good meanwhile
            intent.delete()
            return
        key = href_key(href, context.book.url)
        _forget_listed(context, key)
        # A field in conflict keeps its base: else the next merge would take one side without being asked.
        held = held_fields(context, mapping)
        card, _ = read_card(intent.body)
        sent = remote_fields(card)
        mapping.base_local = intent.fields
        mapping.base_remote = {
            field: mapping.base_remote.get(field) if field in held else sent[field] for field in EMPTY
        }
        mapping.href, mapping.href_key, mapping.etag, mapping.uid = href, key, etag, card.uid
        # The intent keeps what was replaced: if the run is killed now, it tells our edits from others'.
        intent.body, mapping.remote_raw, mapping.local_rev = mapping.remote_raw, intent.body, intent.local_rev
        mapping.status = MappingStatus.CONFLICT if held else MappingStatus.CLEAN
        mapping.error, mapping.body_hash, mapping.failures = "", "", 0
        mapping.save()
        context.note_sent()
        _follow(mapping, intent.href_key)
        intent.state, intent.href, intent.href_key = JournalState.DONE, href, key
        intent.save(update_fields=["body", "state", "href", "href_key", "updated_at"])
    context.tally.exported += intent.op == JournalOp.CREATE
    context.tally.updated_remotely += intent.op == JournalOp.UPDATE


def finish_found_write(context: Context, intent: JournalEntry, found: FetchedCard) -> None:
    """A write whose reply was lost is found to be done. Its ETag is not known: others may have written since."""
    finish_write(context, intent, found.href, None)
    finish_read_back(context, intent.pk, found, is_late=True)


def finish_read_back(context: Context, intent_id: UUID, found: FetchedCard, *, is_late: bool = False) -> None:
    """Take what the server made of our card as its way of saying it; what somebody else edited since is merged.

    `is_late`: it is not read right after the write.
    """
    with context.write():
        intent: JournalEntry | None = _INTENT.instance(owner_id=context.owner.pk, intent_id=intent_id)
        mapping = mapping_of(context, intent.mapping_id) if intent else None
        if intent is None or mapping is None:
            return
        intent.delete()
        # With the ETag of our write nobody has edited it since: every difference is the server's spelling.
        is_own = mapping.etag is not None and same_etag(mapping.etag, found.etag)
        try:
            card, _ = read_card(found.text)
        except VCardError as error:
            context.tally.fail(f"{found.href}: {error}")
            return
        sent, back = Sides(mapping.base_local, remote_fields(read_card(mapping.remote_raw)[0])), remote_fields(card)
        if is_late and not is_own:
            bases = rebased_later(read_fields(intent.body), sent, back)
        else:
            bases = Sides(sent.local, rebased(sent.remote, back, is_own=is_own))
        is_edited = bases != Sides(sent.local, back)
        for field in held_fields(context, mapping):
            bases.local[field], bases.remote[field] = sent.local.get(field), mapping.base_remote.get(field)
        mapping.base_local, mapping.base_remote = bases.local, bases.remote
        mapping.remote_raw, mapping.etag, mapping.uid = found.text, found.etag, card.uid
        mapping.save(update_fields=["base_local", "base_remote", "remote_raw", "etag", "uid", "updated_at"])
        if not is_edited:
            _follow(mapping, mapping.href_key)
    if is_edited:
        merge_contact(context, mapping.pk)


def read_fields(text: str) -> Fields:
    """What a card says; nothing where there is none, or it cannot be read."""
    try:
        return remote_fields(read_card(text)[0]) if text else EMPTY
    except VCardError:
        return EMPTY


def _forget_listed(context: Context, href_key: str) -> None:
    """A listing may have named the card before we knew it as ours: it is nothing to import any more."""
    for model, listed in _LISTED.items():
        if listed.rows(owner_id=context.owner.pk, connection_id=context.connection.pk, href_key=href_key):
            rows = model.objects.owned_by(context.owner)
            rows.filter(connection=context.connection, href_key=href_key).delete()


def _follow(mapping: Mapping, href_key: str) -> None:
    """Whose person was deleted meanwhile: the tombstone knows the card as we wrote it, which is no edit of others."""
    for tombstone in _TOMBSTONES.instances(owner_id=mapping.owner_id, person_id=mapping.person_id, href_key=href_key):
        tombstone.href, tombstone.href_key = mapping.href, mapping.href_key
        tombstone.etag, tombstone.remote_raw = mapping.etag, mapping.remote_raw
        tombstone.save(update_fields=["href", "href_key", "etag", "remote_raw"])


def held_fields(context: Context, mapping: Mapping) -> set[str]:
    """The fields that an open conflict is about."""
    found = open_conflict_of(context, mapping)
    return {field["field"] for field in found.fields} if found and found.kind == ConflictKind.FIELDS else set()
