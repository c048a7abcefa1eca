"""Actions of a reminder (was in touch, snooze, skip): a signed link for each, valid for one delivery and action."""

import datetime as dt
from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

from django.conf import settings
from django.core import signing
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from contacts_project.kernel.errors import DomainError, MissingError
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.texts import define_text
from contacts_project.kernel.vocabularies import Vocabulary
from notifications.notices.notice import Notice, NoticeKind
from notifications.notices.unsubscribe import INVALID_LINK
from people.vocabularies import DateType

SALT = "notifications.actions"
TOKEN_LIFETIME = dt.timedelta(days=30)
PERSON_REMINDERS = frozenset({NoticeKind.IMPORTANT_DATE, NoticeKind.IMPORTANT_DATE_LEAD, NoticeKind.CONTACT})


class ActionKind(Vocabulary):
    """The values are those of the API contract."""

    CONTACTED = "contacted"
    SNOOZE = "snooze"
    SKIP = "skip"
    RESTORE = "restore"


class ActionExpiredError(DomainError):
    """The link is older than TOKEN_LIFETIME."""

    message = define_text("link_expired", "This link has expired.")


@dataclass(frozen=True)
class ReminderAction:
    """An answer that a reminder offers. `days`: of a snooze, until the reminder is sent again."""

    kind: ActionKind
    days: int | None = None

    @property
    def as_json(self) -> JsonObject:
        """`kind`, and for a snooze `days`."""
        return {"kind": self.kind.value} | ({"days": self.days} if self.days else {})

    @property
    def label(self) -> str:
        """The text of the button, in the active language."""
        return _label(self, translation.get_language())

    def question(self, name: str) -> str:
        """The question of the confirmation page, in the active language; `name` is the person's."""
        if self.kind is ActionKind.CONTACTED:
            return _("Note that you were in touch with %(name)s today?") % {"name": name}
        if self.kind is ActionKind.SKIP:
            return _("Hear no more of this, this time?")
        if self.kind is ActionKind.RESTORE:
            return _("Bring back everybody whom %(name)s deleted?") % {"name": name}
        if self.days == 1:
            return _("Be reminded again tomorrow?")
        text = ngettext("Be reminded again in %(days)d day?", "Be reminded again in %(days)d days?", self.days or 0)
        return text % {"days": self.days}


ACTIONS = (
    ReminderAction(ActionKind.CONTACTED),
    ReminderAction(ActionKind.SNOOZE, 1),
    ReminderAction(ActionKind.SNOOZE, 3),
    ReminderAction(ActionKind.SKIP),
)
# Offered by the notice of many deletions by a device.
RESTORE = ReminderAction(ActionKind.RESTORE)
# A memorial is about somebody who has died: there is no "was in touch".
_MEMORIAL_ACTIONS = ACTIONS[1:]
_ACTIONS_BY_CODE = {f"{action.kind.value}{action.days or ''}": action for action in (*ACTIONS, RESTORE)}
_CODES_BY_ACTION = {action: code for code, action in _ACTIONS_BY_CODE.items()}


@lru_cache(maxsize=256)
def _label(action: ReminderAction, language: str | None) -> str:
    """The label in `language`, which must be the active one. It is a parameter to be part of the cache's key."""
    if action.kind is ActionKind.CONTACTED:
        return _("Contacted today")
    if action.kind is ActionKind.SKIP:
        return _("Not this time")
    if action.kind is ActionKind.RESTORE:
        return _("Bring all back")
    if action.days == 1:
        return _("Again tomorrow")
    return ngettext("Again in %(days)d day", "Again in %(days)d days", action.days or 0) % {"days": action.days}


@dataclass(frozen=True)
class ActionLink:
    """An action of one notice, with the button's label in the owner's language and the signed URL."""

    action: ReminderAction
    label: str
    url: str

    @property
    def as_json(self) -> JsonObject:
        """As webhooks and push payloads contain it: `kind`, `days` of a snooze, `label`, `url`."""
        return {**self.action.as_json, "label": self.label, "url": self.url}


def action_links(notice: Notice) -> tuple[ActionLink, ...]:
    """The action links of a notice; none for digests, tests and the like."""
    if notice.kind not in PERSON_REMINDERS and notice.kind is not NoticeKind.DAV_DELETIONS:
        return ()
    actions: tuple[ReminderAction, ...] = ACTIONS
    if notice.content.get("type") == DateType.MEMORIAL:
        actions = _MEMORIAL_ACTIONS
    if notice.kind is NoticeKind.DAV_DELETIONS:
        actions = (RESTORE,)
    with translation.override(notice.owner.language):
        return tuple(
            ActionLink(
                action,
                action.label,
                f"{settings.BASE_URL}/api/actions/{make_token(notice.id, action, notice.made_at + TOKEN_LIFETIME)}",
            )
            for action in actions
        )


def action_links_without_three_days(notice: Notice) -> tuple[ActionLink, ...]:
    """The action links for clients that show three buttons at most."""
    return tuple(link for link in action_links(notice) if link.action.days != 3)


def make_token(delivery_id: UUID, action: ReminderAction, expires_at: dt.datetime) -> str:
    """The signed token. It contains no time of signing, so that every attempt of a delivery sends the same one."""
    return _signer().sign(f"{delivery_id.hex}-{_CODES_BY_ACTION[action]}-{int(expires_at.timestamp()):x}")


def read_token(token: str, *, now: dt.datetime) -> tuple[UUID, ReminderAction]:
    """The delivery's id and the action. Raises MissingError if the signature is wrong, and ActionExpiredError."""
    try:
        key, code, expires = _signer().unsign(token).split("-")
        action = _ACTIONS_BY_CODE[code]
    except (signing.BadSignature, KeyError) as error:
        raise MissingError(INVALID_LINK) from error
    if now.timestamp() >= int(expires, 16):
        raise ActionExpiredError
    return UUID(key), action


def _signer() -> signing.Signer:
    # Not Django's default colon: many programs that find links in plain text end them at a colon.
    return signing.Signer(salt=SALT, sep=".")
