"""What sharing adds to people: in which shares a person is. And what becomes of a share whose group goes."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from rest_framework.serializers import Field

from accounts.models import User
from contacts_project.kernel.json import dumps
from people.extensions import PersonExtension
from sharing.api.serializers import PersonShareSerializer
from sharing.models import CopyState, Reason, ShareConflict, SharedCopy, ShownState
from sharing.services.leaving import leave_groups, pause_groups


class SharingExtension(PersonExtension):
    name = "shares"
    # The state moves the share's revision, never the person's revision or ETag.
    is_in_etag = False

    def response_field(self) -> "Field[Any, Any, Any, Any]":
        return PersonShareSerializer(many=True, read_only=True)

    def rows(self, owner: User, person_ids: Collection[UUID] | None) -> Mapping[str, str]:
        if not owner.is_shared:
            return {}
        copies = SharedCopy.objects.owned_by(owner).exclude(state=CopyState.SKIPPED)
        copies = copies.filter(person__isnull=False, membership__deleted_at=None, membership__member__ended_at=None)
        if person_ids is not None:
            copies = copies.filter(person__in=person_ids)
        conflicts = set(ShareConflict.objects.owned_by(owner).values_list("copy_id", flat=True))
        found: dict[str, list[str]] = defaultdict(list)
        columns = ("pk", "person_id", "state", "reason", "membership__share_id", "membership__share__name")
        for key, person_id, state, reason, share_id, name in copies.order_by("membership", "pk").values_list(*columns):
            shown = _shown_state(state, reason, is_in_conflict=key in conflicts)
            found[person_id.hex].append(dumps({"shareId": share_id, "name": name, "state": shown}).decode())
        return {key: ",".join(entries) for key, entries in found.items()}

    def after_group_delete(self, owner_id: UUID, group_ids: Collection[UUID]) -> None:
        pause_groups(owner_id, group_ids)

    def before_group_removal(self, owner_id: UUID, group_ids: Collection[UUID]) -> None:
        leave_groups(owner_id, group_ids)


def _shown_state(state: str, reason: str, *, is_in_conflict: bool) -> ShownState:
    if state == CopyState.OUT:
        return ShownState.OUT
    if is_in_conflict:
        return ShownState.CONFLICT
    return ShownState.SYNCED if state == CopyState.LINKED and reason == Reason.NONE else ShownState.WAITING
