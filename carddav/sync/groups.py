"""Group cards: their members are put into the group of the card's name. The cards themselves are not changed."""

from collections.abc import Mapping as MappingOf
from uuid import UUID

from carddav.models import Mapping, OtherCard, OtherKind
from carddav.sync.context import Context
from carddav.sync.unsent import unsent_mappings
from contacts_project.kernel.text_forms import case_key
from contacts_project.kernel.texts import define_text
from people.importing.card_groups import GroupPlan
from people.importing.known import uid_spellings
from people.services.groups import put_members

_NO_ROOM = define_text("no_room_for_group", "Your plan has no room for the group %(group)s.")


def apply_group_cards(context: Context) -> None:
    """Put the members of group cards into groups, each once, so that a member who was removed here is not added
    again."""
    rows = OtherCard.objects.owned_by(context.owner).filter(connection=context.connection.pk, kind=OtherKind.GROUP)
    for card in rows.order_by("id"):
        unapplied = [uid for uid in card.members if uid not in card.joined]
        if unapplied:
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
            context.tally.messages.append(_NO_ROOM.format(group=card.name))
            return
        # What was unsent before stays so: the membership alone is nothing to be sent.
        unsent = set(unsent_mappings(context.connection).filter(person__in=found).values_list("person_id", flat=True))
        put_members(plan.make(card.name), list(found), write.now)
        _add_to_bases(context, list(found), card.name, {key: write.revision for key in found if key not in unsent})
        card.joined = [*card.joined, *found.values()]
        card.save()


def _add_to_bases(context: Context, person_ids: list[UUID], name: str, revisions: MappingOf[UUID, int]) -> None:
    """Add the group to the members' bases: the server knows the membership from its group card, so it must not be sent
    as CATEGORIES of the members' cards. `revisions`: of the people of whom nothing else is unsent."""
    for mapping in Mapping.objects.owned_by(context.owner).filter(person__in=person_ids):
        known = {case_key(group) for group in mapping.base_local.get("groups", ())}
        if case_key(name) not in known:
            mapping.add_group(name, revisions.get(mapping.person_id))
        else:
            mapping.mark_current(revisions.get(mapping.person_id))
