"""Finds the API token that a request shows, and notes its use."""

import datetime as dt
from collections.abc import Callable
from uuid import UUID

from django.db.models import Q

from accounts.models import ApiToken
from accounts.models.tokens import TOKEN_HASH, TOKEN_PATTERN
from contacts_project.kernel.database.compiled_queries import Rows, compiled_query
from contacts_project.kernel.database.write_lock import skip_if_locked

# `last_used_at` is written at most once a minute per token, so that reads rarely cause a write.
_LAST_USED_RESOLUTION = dt.timedelta(minutes=1)


@compiled_query
def _token_by_digest(digest: str) -> Rows:
    return ApiToken.unscoped.select_related("owner").filter(digest=digest, owner__is_active=True)


def is_token_text(text: str) -> bool:
    """Whether the text has the form of a token."""
    return TOKEN_PATTERN.fullmatch(text) is not None


def _find_by_digest(digest: str) -> ApiToken | None:
    row: ApiToken | None = _token_by_digest.instance(digest=digest)
    return row


def token_in_use(
    *, text: str, now: dt.datetime, find: Callable[[str], ApiToken | None] = _find_by_digest
) -> ApiToken | None:
    """The token with this text and its owner, or None if it is unknown, revoked or expired, or its owner switched off.

    Notes the use. `find` returns the row of a digest with its active owner: a caller may read more in the same query.
    """
    row = find(TOKEN_HASH(text.encode()).hexdigest())
    if row is None or (row.expires_at is not None and row.expires_at <= now):
        return None
    _record_use(row, now)
    return row


def owner_of_token(*, text: str, now: dt.datetime) -> UUID | None:
    """The account of the token with this text, as `token_in_use`, but without noting a use."""
    row = _find_by_digest(TOKEN_HASH(text.encode()).hexdigest())
    return None if row is None or (row.expires_at is not None and row.expires_at <= now) else row.owner_id


def _record_use(row: ApiToken, now: dt.datetime) -> None:
    if row.last_used_at is not None and row.last_used_at >= now - _LAST_USED_RESOLUTION:
        return
    # The condition is repeated in the UPDATE, so that of many concurrent requests only one writes the row.
    outdated = Q(last_used_at__isnull=True) | Q(last_used_at__lt=now - _LAST_USED_RESOLUTION)
    # Skipped if SQLite stays locked for a moment: reading must not wait for a long write just to note the time.
    with skip_if_locked():
        ApiToken.unscoped.filter(outdated, pk=row.pk).update(last_used_at=now)
