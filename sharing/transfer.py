"""Shares in the export of an account: which there are, and with whom. An import makes none."""

from collections import defaultdict
from collections.abc import Iterator
from uuid import UUID

from accounts.models import User
from accounts.transfer.sections import Section, exclude_table, register_section
from contacts_project.kernel.json import JsonObject
from sharing.models import ShareMember, ShareMembership

_OF_OTHERS = "An import makes no shares: what is between accounts is not in one account's document."


def register_transfer() -> None:
    """Register the section of this app; called once."""
    register_section(ShareSection())
    for name in ("SharedCopy", "ShareConflict", "WriteOrigin", "InvitationBlock"):
        exclude_table(f"sharing.{name}", _OF_OTHERS)


class ShareSection(Section):
    """The account's shares by name, with the group here and the names of the other members."""

    name, order, models = "shares", 95, (ShareMembership,)
    is_imported = False

    def export(self, owner: User) -> Iterator[JsonObject]:
        rows = list(ShareMembership.objects.owned_by(owner).current().select_related("share", "group").order_by("pk"))
        others: dict[UUID, list[str]] = defaultdict(list)
        members = ShareMember.objects.reached_by(*rows).filter(ended_at=None).exclude(pk__in=[row.pk for row in rows])
        for share_id, name in members.order_by("joined_at", "pk").values_list("share_id", "name"):
            others[share_id].append(name)
        for row in rows:
            yield {
                "name": row.share.name,
                "group": row.group.name if row.group else None,
                "members": others[row.share_id],
            }
