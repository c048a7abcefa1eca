"""What a reminder offers to do where it is read: a signed link each, for one delivery and one thing."""

import datetime as dt
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core import signing
from django.db.models import TextChoices
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from contacts_project.kernel.errors import DomainError, MissingError
from notifications.notices.notice import Notice, NoticeKind
from people.vocabularies import DateType

SALT = "notifications.actions"
GOOD_FOR = dt.timedelta(days=30)
REMINDERS_OF_PEOPLE = frozenset({NoticeKind.IMPORTANT_DATE, NoticeKind.IMPORTANT_DATE_LEAD, NoticeKind.CONTACT})


class ActionKind(TextChoices):
    """The contract's words (open points, section 13)."""

    CONTACTED = "contacted"
    SNOOZE = "snooze"
    SKIP = "skip"


class ActionExpiredError(DomainError):
    """The link is older than it is good for."""

    message = "This link has expired."


@dataclass(frozen=True)
class Action:
    """One thing to do; `days` until a snoozed reminder comes again."""

    kind: ActionKind
    days: int | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """As JSON: `kind`, and `days` where there are any."""
        return {"kind": self.kind.value} | ({"days": self.days} if self.days else {})

    @property
    def label(self) -> str:
        """What stands on its button, in the active language."""
        return _label(self, translation.get_language())

    def question(self, name: str) -> str:
        """What the page asks, of a reminder about somebody called so, in the active language."""
        if self.kind is ActionKind.CONTACTED:
            return _("Note that you were in touch with %(name)s today?") % {"name": name}
        if self.kind is ActionKind.SKIP:
            return _("Hear no more of this, this time?")
        if self.days == 1:
            return _("Be reminded again tomorrow?")
        text = ngettext("Be reminded again in %(days)d day?", "Be reminded again in %(days)d days?", self.days or 0)
        return text % {"days": self.days}


ACTIONS = (
    Action(ActionKind.CONTACTED),
    Action(ActionKind.SNOOZE, 1),
    Action(ActionKind.SNOOZE, 3),
    Action(ActionKind.SKIP),
)
# Nobody gets in touch with the dead.
_OF_MEMORIALS = ACTIONS[1:]
_BY_WORD = {f"{action.kind.value}{action.days or ''}": action for action in ACTIONS}
_WORDS = {action: word for word, action in _BY_WORD.items()}


@lru_cache(maxsize=256)
def _label(action: Action, language: str | None) -> str:
    """The words in the language, which is the active one."""
    if action.kind is ActionKind.CONTACTED:
        return _("Contacted today")
    if action.kind is ActionKind.SKIP:
        return _("Not this time")
    if action.days == 1:
        return _("Again tomorrow")
    return ngettext("Again in %(days)d day", "Again in %(days)d days", action.days or 0) % {"days": action.days}


@dataclass(frozen=True)
class Offer:
    """An action of one notice: what is on its button, in the owner's language, and where that leads."""

    action: Action
    label: str
    url: str

    @property
    def facts(self) -> dict[str, Any]:
        """As webhooks and push show it: `kind`, `days` where there are any, `label`, `url`."""
        return {**self.action.facts, "label": self.label, "url": self.url}


def offers_of(notice: Notice) -> tuple[Offer, ...]:
    """What can be done about a notice. A digest is about many people, a test about nobody: they offer nothing."""
    if notice.kind not in REMINDERS_OF_PEOPLE:
        return ()
    actions = _OF_MEMORIALS if notice.content.get("type") == DateType.MEMORIAL else ACTIONS
    with translation.override(notice.owner.language):
        return tuple(Offer(action, action.label, _url(notice, action)) for action in actions)


def offers_without_three_days(notice: Notice) -> tuple[Offer, ...]:
    """For who shows three buttons at most."""
    return tuple(offer for offer in offers_of(notice) if offer.action.days != 3)


def _url(notice: Notice, action: Action) -> str:
    return f"{settings.BASE_URL}/api/actions/{make_token(notice.id, action, notice.made_at + GOOD_FOR)}"


def make_token(delivery_id: UUID, action: Action, expires_at: dt.datetime) -> str:
    """The credential. It says nothing of the time of its making: every try of a delivery says the same."""
    return _signer().sign(f"{delivery_id.hex}-{_WORDS[action]}-{int(expires_at.timestamp()):x}")


def read_token(token: str, *, now: dt.datetime) -> tuple[UUID, Action]:
    """Which delivery, and what to do. Raises MissingError where we did not make it, ActionExpiredError."""
    try:
        key, word, expires = _signer().unsign(token).split("-")
        action = _BY_WORD[word]
    except (signing.BadSignature, KeyError) as error:
        raise MissingError("This link is not valid.") from error
    if now.timestamp() >= int(expires, 16):
        raise ActionExpiredError
    return UUID(key), action


def _signer() -> signing.Signer:
    # A colon in a path is fine for browsers, and where links are found in plain text it often ends them.
    return signing.Signer(salt=SALT, sep=".")
