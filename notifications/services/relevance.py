"""Whether a delivery that was planned is still wanted when it is due."""

from notifications.ledger import targets_of
from notifications.models import Delivery
from notifications.notices.notice import NoticeKind
from people.models import ImportantDate


def why_irrelevant(delivery: Delivery) -> str | None:
    """Why nothing is to be sent any more; None: it is. What was deleted, switched off or done is left out."""
    kind = NoticeKind(delivery.kind)
    if not delivery.owner.is_active:
        return "account_inactive"
    if kind is NoticeKind.DIGEST:
        reason = None if delivery.owner.weekly_digest_enabled else "reminder_off"
    elif kind is NoticeKind.CONTACTS_FOUND:
        reason = None
    elif delivery.person is None or delivery.person.deleted_at is not None:
        reason = "deleted"
    elif kind is NoticeKind.CONTACT:
        reason = _why_no_contact(delivery)
    else:
        reason = _why_no_date(delivery)
    return reason or _why_not_there(delivery, kind)


def _why_no_contact(delivery: Delivery) -> str | None:
    person = delivery.person
    if person is None or not person.contact_reminder_enabled:
        return "reminder_off"
    is_done = person.last_contact is not None and person.last_contact >= delivery.occurrence_on
    return "contacted" if is_done else None


def _why_no_date(delivery: Delivery) -> str | None:
    row = ImportantDate.objects.owned_by(delivery.owner).active().filter(pk=delivery.source_id).first()
    if row is None:
        return "deleted"
    return None if row.reminder_enabled else "reminder_off"


def _why_not_there(delivery: Delivery, kind: NoticeKind) -> str | None:
    for target in targets_of(delivery.owner, kind, delivery.channel):
        if target.key == delivery.target_key:
            return target.off
    return "removed"
