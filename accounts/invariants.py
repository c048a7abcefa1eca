"""Invariants of accounts and sessions, checked by `manage.py doctor --deep`."""

from collections.abc import Iterator

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.db.models import F, Q

from accounts.models import User
from contacts_project.kernel.ids import parse_id
from contacts_project.kernel.invariants import invariant, iterate_chunks, iterate_ids


@invariant("accounts have a negative revision, or a settings revision above their revision")
def find_wrong_settings_revisions() -> Iterator[object]:
    return iterate_ids(User.objects.filter(Q(settings_revision__gt=F("revision")) | Q(revision__lt=0)))


@invariant("sessions belong to no account", hint="They sign nobody in; the daily sweep removes them when they expire.")
def find_sessions_of_nobody() -> Iterator[object]:
    # Reported by account and expiry, because the key of a session is a secret.
    for chunk in iterate_chunks(Session.objects.all()):
        user_ids = {session.pk: parse_id(session.get_decoded().get(SESSION_KEY)) for session in chunk}
        existing = set(User.objects.filter(pk__in=filter(None, user_ids.values())).values_list("pk", flat=True))
        for session in chunk:
            user_id = user_ids[session.pk]
            if user_id and user_id not in existing:
                yield f"one of {user_id} until {session.expire_date.isoformat()}"
