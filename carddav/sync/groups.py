"""Group cards: their members are put into the group of the card's name. The cards themselves are not changed."""

from uuid import UUID

from carddav.models import UNSENT, Mapping, OtherCard, OtherKind
from carddav.sync.context import Context
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from people.importing.card_groups import GroupPlan
from people.importing.known import uid_spellings
from people.services.groups import put_members

_GROUP_CARDS = CompiledQuery(
    lambda owner_id, connection_id: (
        OtherCard.objects.owned_by(owner_id).filter(connection=connection_id, kind=OtherKind.GROUP).order_by("id")
    )
)


def apply_group_cards(context: Context) -> None:
    """Put the members of group cards into groups, each once, so that a member who was removed here is not added
    again."""
    for card in _GROUP_CARDS.instances(owner_id=context.owner.pk, connection_id=context.connection.pk):
        unapplied = [uid for uid in card.members if uid not in card.joined]
        if unapplied and not context.dry_run:
            _apply_group_card(context, card, unapplied)


def _apply_group_card(context: Context, card: OtherCard, unapplied: list[str]) -> None:
    spellings = {spelling: uid for uid in unapplied for spelling in uid_spellings(uid)}
    mappings = Mapping.objects.owned_by(context.owner).filter(
        connection=context.connection, uid__in=spellings, person__deleted_at=None
    )
    found: dict[UUID, str] = {row.person_id: spellings[row.uid or ""] for row in mappings.defer("remote_raw")}
    if not found:
        return
    with context.write() as write:
        plan = GroupPlan(context.owner)
        plan.load([card.name])
        if not plan.reserve(card.name):
            context.tally.messages.append(f"Your plan has no room for the group {card.name}.")
            return
        put_members(plan.make(card.name), list(found), write.now)
        _add_to_bases(context, list(found), card.name, write.revision)
        card.joined = [*card.joined, *found.values()]
        card.save()


def _add_to_bases(context: Context, person_ids: list[UUID], name: str, revision: int) -> None:
    """Add the group to the members' bases: the server knows the membership from its group card, so it must not be sent
    as CATEGORIES of the members' cards."""
    for mapping in Mapping.objects.owned_by(context.owner).filter(person__in=person_ids):
        known = {group.casefold() for group in mapping.base_local.get("groups", ())}
        if name.casefold() not in known:
            mapping.base_local["groups"] = [*mapping.base_local.get("groups", ()), name]
        if mapping.local_rev != UNSENT:
            mapping.local_rev = revision
        mapping.save(update_fields=["base_local", "local_rev", "updated_at"])
