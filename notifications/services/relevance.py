"""Whether a delivery that was planned is still wanted when it is due."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from notifications.channels.interface import Target
from notifications.ledger import SKIPPED, SNOOZED, AllTargets, read_targets
from notifications.models import Delivery
from notifications.notices.actions import ActionKind
from notifications.notices.notice import NoticeKind
from people.dates import schedule
from people.models import ImportantDate

DECEASED = "deceased"
_ANSWERED = {ActionKind.CONTACTED: "contacted", ActionKind.SNOOZE: SNOOZED, ActionKind.SKIP: SKIPPED}


@dataclass(frozen=True)
class Facts:
    """What is read for some deliveries at once: whether reminders are on for their dates, and where each goes.

    Deleted dates are not among the switches.
    """

    switches: Mapping[UUID, bool]
    targets: AllTargets

    def target_of(self, delivery: Delivery) -> Target | None:
        """Where the delivery goes; None where that is no more."""
        for target in self.targets.of(delivery.owner, NoticeKind(delivery.kind)):
            if target.channel == delivery.channel and target.key == delivery.target_key:
                return target
        return None


def read_facts(deliveries: Collection[Delivery]) -> Facts:
    kinds = {NoticeKind.IMPORTANT_DATE, NoticeKind.IMPORTANT_DATE_LEAD}
    ids = [delivery.source_id for delivery in deliveries if delivery.kind in kinds]
    rows = ImportantDate.unscoped.filter(pk__in=ids, deleted_at=None) if ids else ImportantDate.unscoped.none()
    owners = {delivery.owner_id: delivery.owner for delivery in deliveries}
    names = {delivery.channel for delivery in deliveries}
    return Facts(dict(rows.values_list("pk", "reminder_enabled")), read_targets(owners.values(), names))


def why_irrelevant(delivery: Delivery, facts: Facts) -> str | None:
    """Why nothing is to be sent any more; None: it is. What was deleted, switched off or done is left out."""
    kind = NoticeKind(delivery.kind)
    if not delivery.owner.is_active:
        return "account_inactive"
    if delivery.answers:  # what the account said to the same reminder elsewhere
        return _ANSWERED[delivery.answers[-1]["kind"]]
    if kind is NoticeKind.DIGEST:
        reason = None if delivery.owner.weekly_digest_enabled else "reminder_off"
    elif kind is NoticeKind.CONTACTS_FOUND:
        reason = None
    elif delivery.person is None or delivery.person.deleted_at is not None:
        reason = "deleted"
    elif kind is NoticeKind.CONTACT:
        reason = _why_no_contact(delivery)
    else:
        reason = _why_no_date(delivery, facts.switches.get(delivery.source_id))
    return reason or _why_not_there(facts.target_of(delivery))


def _why_no_contact(delivery: Delivery) -> str | None:
    person = delivery.person
    if person is None or not person.contact_reminder_enabled:
        return "reminder_off"
    if person.deathday:
        return DECEASED
    is_done = person.last_contact is not None and person.last_contact >= delivery.occurrence_on
    return "contacted" if is_done else None


def _why_no_date(delivery: Delivery, is_on: bool | None) -> str | None:
    if is_on is None:
        return "deleted"
    if delivery.person and schedule.is_birthday_of_dead(delivery.content.get("type"), delivery.person.deathday):
        return DECEASED
    return None if is_on else "reminder_off"


def _why_not_there(target: Target | None) -> str | None:
    return target.off if target else "removed"
