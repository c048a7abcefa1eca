"""What must hold of accounts and of who is signed in to them."""

from collections.abc import Iterator
from uuid import UUID

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.db.models import F, Q

from accounts.models import User
from contacts_project.kernel.api.json import parse_id
from contacts_project.kernel.invariants import ids_of, in_chunks, invariant


@invariant("accounts show a change of their profile that they have not had")
def find_wrong_settings_revisions() -> Iterator[object]:
    return ids_of(User.objects.filter(Q(settings_revision__gt=F("revision")) | Q(revision__lt=0)))


@invariant("sessions are of no account", hint="They sign nobody in; the daily sweep removes them when they expire.")
def find_sessions_of_nobody() -> Iterator[object]:
    """Told by the account that they name and by when they expire: the key of a session is a secret."""
    for chunk in in_chunks(Session.objects.all()):
        named = {session.pk: _account_of(session) for session in chunk}
        known = set(User.objects.filter(pk__in=filter(None, named.values())).values_list("pk", flat=True))
        for session in chunk:
            account = named[session.pk]
            if account and account not in known:
                yield f"one of {account} until {session.expire_date.isoformat()}"


def _account_of(session: Session) -> UUID | None:
    account = session.get_decoded().get(SESSION_KEY)
    return parse_id(account) if account else None
