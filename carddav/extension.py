"""Hooks of the sync into writes of people: deletion, restore, merging."""

import datetime as dt
from collections.abc import Collection
from uuid import UUID

from accounts.models import User
from carddav.models import Conflict, JournalEntry, JournalOp, JournalState, PendingImport, Tombstone, TombstoneState
from carddav.models import Mapping as CardMapping
from contacts_project.kernel.json import JsonMapping
from contacts_project.kernel.ownership.account_lock import is_mirrored
from people.extensions import PersonExtension
from people.models import Person


class CardDavExtension(PersonExtension):
    """The mapping stays while its person is in the trash; a tombstone records what becomes of the card.

    An account without a connection has neither, which its open write knows without a query (`is_mirrored`).
    """

    def figures(self, owner: User) -> dict[str, int]:
        return {
            "pendingImports": PendingImport.objects.owned_by(owner).count(),
            "conflicts": Conflict.objects.owned_by(owner).unresolved().count(),
        }

    def after_delete(self, owner_id: UUID, person_ids: Collection[UUID], options: JsonMapping) -> None:
        if not is_mirrored(owner_id):
            return
        state = TombstoneState.TO_DELETE if options.get("delete_from_card_dav") else TombstoneState.KEPT
        rows = CardMapping.objects.owned_by(owner_id).filter(person__in=person_ids)
        prepared = JournalEntry.objects.owned_by(owner_id).filter(mapping__in=rows, state=JournalState.PREPARED)
        # Creates whose outcome is unknown: the card may exist, so it gets a tombstone under its intended href.
        creates = {intent.mapping_id: intent for intent in prepared.filter(op=JournalOp.CREATE)}
        rows.filter(remote_raw="").exclude(pk__in=creates).delete()
        for mapping in rows:
            if intent := creates.get(mapping.pk):
                mapping.href, mapping.href_key, mapping.uid = intent.href, intent.href_key, intent.uid
                mapping.remote_raw = intent.body
            mapping.put_tombstone(state)

    def after_restore(self, person: Person, now: dt.datetime) -> None:
        """Map the card to the person again; one that is gone is written anew."""
        if not is_mirrored(person.owner_id):
            return
        tombstones = Tombstone.objects.owned_by(person.owner_id).filter(person=person)
        is_mapped = CardMapping.objects.owned_by(person.owner_id).filter(person=person).exists()
        if not is_mapped and (last := tombstones.order_by("-updated_at").first()) is not None:
            CardMapping(owner_id=person.owner_id, connection_id=last.connection_id, person=person).requeue()
        tombstones.delete()

    def is_mirrored(self, owner_id: UUID, person_ids: Collection[UUID]) -> bool:
        rows = CardMapping.objects.owned_by(owner_id).filter(person__in=person_ids)
        return bool(rows.exclude(remote_raw="").exists())

    def merge(self, primary: Person, secondary: Person, now: dt.datetime) -> str | None:
        """The primary takes over the secondary's card if it has none; otherwise that card stays on the server without a
        person."""
        if not is_mirrored(primary.owner_id):
            return None
        rows = CardMapping.objects.owned_by(primary.owner_id)
        mapping = rows.filter(person=secondary).first()
        if mapping is None:
            return None
        if not mapping.remote_raw or rows.filter(person=primary).exclude(remote_raw="").exists():
            self.after_delete(primary.owner_id, [secondary.pk], {})
            return None
        rows.filter(person=primary).delete()
        rows.filter(pk=mapping.pk).update(person=primary)
        return str(mapping.pk)

    def undo_merge(self, primary: Person, secondary: Person, image: str | None) -> None:
        if image is not None:
            CardMapping.objects.owned_by(primary.owner_id).filter(pk=UUID(image), person=primary).update(
                person=secondary
            )
