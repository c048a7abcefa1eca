"""The check of `manage.py doctor` for shares."""

import datetime as dt
from collections.abc import Sequence

from django.apps import AppConfig
from django.core.checks import CheckMessage, Warning, register
from django.db import DatabaseError
from django.db.models import Q
from django.utils import timezone

from sharing.models import Invitation, ShareMembership

_PATIENCE = dt.timedelta(minutes=15)


@register("doctor", deploy=True)
def check_shares(app_configs: Sequence[AppConfig] | None, **kwargs: object) -> list[CheckMessage]:
    """Whether changes wait to be carried, or invitations to be sent, for longer than a worker lets them."""
    since = timezone.now() - _PATIENCE
    memberships = ShareMembership.unscoped.rows().current().filter(paused=False, owner__is_active=True)
    late = memberships.filter(Q(due_at__lt=since) | Q(member__due_at__lt=since))
    mails = Invitation.unscoped.rows().filter(mail_at__lt=since)
    try:
        waiting, unsent = late.count(), mails.count()
    except DatabaseError:  # another check says that the tables are missing
        return []
    found: list[CheckMessage] = []
    if waiting:
        hint = "Does a worker run? Its log says what became of sharing.tasks.carry."
        found.append(
            Warning(f"Changes of {waiting} members of shares have waited for a while.", hint=hint, id="doctor.W058")
        )
    if unsent:
        hint = "Look at the checks of mails above; a mail that cannot be sent is tried again for half a day."
        found.append(Warning(f"{unsent} invitations to shares are not sent.", hint=hint, id="doctor.W059"))
    return found
