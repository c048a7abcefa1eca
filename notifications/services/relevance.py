"""Whether a planned delivery is still relevant when it is about to be sent."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from notifications.channels.interface import ChannelTarget
from notifications.ledger import SKIPPED, SNOOZED, TargetsByAccount, load_targets
from notifications.models import Delivery
from notifications.notices.actions import ActionKind
from notifications.notices.notice import WITHOUT_PERSON, NoticeKind
from people.mentions import Topic, topic_of
from people.models import ImportantDate, Person

_ANSWER_REASONS = {
    ActionKind.CONTACTED: "contacted",
    ActionKind.SNOOZE: SNOOZED,
    ActionKind.SKIP: SKIPPED,
    ActionKind.RESTORE: SKIPPED,
}


@dataclass(frozen=True)
class Facts:
    """What is loaded for a batch of deliveries at once.

    `reminder_enabled`: of each important date that is not deleted, whether its reminders are on.
    `moved_to`: the person that has the date now, by the date's id, where the person of the delivery was merged since.
    """

    reminder_enabled: Mapping[UUID, bool]
    moved_to: Mapping[UUID, Person]
    targets: TargetsByAccount

    def person_of(self, delivery: Delivery) -> Person | None:
        """The active person that the delivery is about; None if there is none any more."""
        person = delivery.person
        return self.moved_to.get(delivery.source_id) if person is None or person.deleted_at is not None else person

    def target_of(self, delivery: Delivery) -> ChannelTarget | None:
        """The delivery's target; None if it was removed."""
        for target in self.targets.for_owner(delivery.owner, NoticeKind(delivery.kind)):
            if target.channel == delivery.channel and target.key == delivery.target_key:
                return target
        return None


def load_facts(deliveries: Collection[Delivery]) -> Facts:
    kinds = {NoticeKind.IMPORTANT_DATE, NoticeKind.IMPORTANT_DATE_LEAD}
    ids = [delivery.source_id for delivery in deliveries if delivery.kind in kinds]
    rows = ImportantDate.unscoped.filter(pk__in=ids, deleted_at=None) if ids else ImportantDate.unscoped.none()
    owners = {delivery.owner_id: delivery.owner for delivery in deliveries}
    names = {delivery.channel for delivery in deliveries}
    return Facts(
        reminder_enabled=dict(rows.values_list("pk", "reminder_enabled")),
        moved_to=_load_moved(deliveries),
        targets=load_targets(owners.values(), names),
    )


def _load_moved(deliveries: Collection[Delivery]) -> dict[UUID, Person]:
    ids = [row.source_id for row in deliveries if row.person is not None and row.person.deleted_at is not None]
    if not ids:
        return {}
    dates = ImportantDate.unscoped.filter(pk__in=ids, deleted_at=None, person__deleted_at=None)
    deferred = (f"person__{column}" for column in Person.HEAVY_COLUMNS)
    return {date.pk: date.person for date in dates.select_related("person").defer(*deferred)}


def irrelevance_reason(delivery: Delivery, facts: Facts) -> str | None:
    """Why the delivery is not to be sent any more (its source deleted, switched off, done ...); None if it is."""
    kind = NoticeKind(delivery.kind)
    if not delivery.owner.is_active:
        return "account_inactive"
    if delivery.answers:  # given to the same notice at another target
        return _ANSWER_REASONS[delivery.answers[-1]["kind"]]
    if kind is NoticeKind.DIGEST:
        reason = None if delivery.owner.weekly_digest_enabled else "reminder_off"
    elif kind in WITHOUT_PERSON:
        reason = None
    elif (person := facts.person_of(delivery)) is None:
        reason = "deleted"
    elif kind is NoticeKind.CONTACT:
        reason = _contact_reason(delivery, person)
    else:
        reason = _date_reason(delivery, person, facts.reminder_enabled.get(delivery.source_id))
    if reason:
        return reason
    target = facts.target_of(delivery)
    return target.off_reason if target else "removed"


def _contact_reason(delivery: Delivery, person: Person) -> str | None:
    if not person.contact_reminder_enabled:
        return "reminder_off"
    if why := person.silence(Topic.CONTACT):
        return why
    is_done = person.last_contact is not None and person.last_contact >= delivery.occurrence_on
    return "contacted" if is_done else None


def _date_reason(delivery: Delivery, person: Person, is_on: bool | None) -> str | None:
    if is_on is None:
        return "deleted"
    if why := person.silence(topic_of(delivery.content.get("type"))):
        return why
    return None if is_on else "reminder_off"
