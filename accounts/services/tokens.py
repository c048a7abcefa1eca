"""API tokens: their creation, use and revocation. Only the digest is stored, so the text is available once.

An app that signs in through the provider gets its token for a one-time authorization code, which the browser brings.
"""

import base64
import datetime as dt
import hashlib
from collections.abc import Callable
from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare, get_random_string

from accounts.models import AccountSession, ApiToken, AppCode, User
from accounts.models.tokens import TOKEN_HASH, TOKEN_PATTERN, new_token
from accounts.services.sessions import record_ended_tokens
from accounts.services.sign_in import ATTEMPTS_BY_ADDRESS, SIGN_INS, InvalidCredentialsError, count_failed_sign_ins
from accounts.vocabularies import EndReason, TokenKind
from contacts_project.kernel.client_address import address_block, client_address
from contacts_project.kernel.database.compiled_queries import Rows, compiled_query
from contacts_project.kernel.database.sqlite3 import skip_if_locked
from contacts_project.kernel.errors import DomainError, MissingError
from contacts_project.kernel.json import JsonMapping
from contacts_project.kernel.ownership.account_lock import account_lock, account_write
from contacts_project.kernel.texts import define_text

PREFIX_LENGTH = 12
MAX_TOKENS = 100
NO_SUCH_TOKEN = define_text("no_such_token", "There is no such token.")
_DEVICE_SETTINGS = ("group_cards", "book", "alarms")
# `last_used_at` is written at most once a minute per token, so that reads rarely cause a write.
_LAST_USED_RESOLUTION = dt.timedelta(minutes=1)
CODE_LIFETIME = dt.timedelta(seconds=60)
# A used code is stored for this long, so that a second exchange is recognised and revokes the token.
_CODE_RETENTION = dt.timedelta(days=1)
_CODE_LENGTH = 43  # of 62 characters: 256 bits


class TooManyTokensError(DomainError):
    """The account has the maximum number of tokens. Device tokens and expired tokens count."""

    message = define_text(
        "too_many_tokens", "An account has at most %(limit)s API tokens. Delete some first, in your account."
    ).format(limit=MAX_TOKENS)


class SessionEndedError(DomainError):
    """The session of the request ended while the request was processed."""

    message = define_text("session_ended", "This session has ended. Sign in again.")


class InvalidGrantError(DomainError):
    """The code is unknown, expired or used, or the verifier does not match. The message does not reveal which."""

    message = define_text(
        "invalid_grant", "This code was used already, is too old, or belongs to another sign-in. Sign in again."
    )


def create_api_token(
    *,
    owner: User,
    session_key: str | None,
    name: str,
    scope: str,
    expires_at: dt.datetime | None = None,
    **settings: object,
) -> tuple[ApiToken, str]:
    """Create a token in the session `session_key`; returns the row and the token's text, which is not stored.

    `settings` are the columns group_cards, book and alarms. Raises SessionEndedError, TooManyTokensError.
    """
    with account_write(owner):
        # A password reset ends all sessions and tokens. A request of a session that it ended while the request waited
        # for the lock must not leave a new token behind.
        if not AccountSession.objects.owned_by(owner).filter(session_key=session_key).exists():
            raise SessionEndedError
        return _create(owner, TokenKind.TOKEN, name=name, scope=scope, expires_at=expires_at, **settings)


def update_api_token(*, owner: User, token_id: UUID, data: JsonMapping) -> ApiToken:
    """Change the name and the settings of a token. Raises MissingError.

    What its device reads otherwise from now on gets the revision of this write: the device lists it in its next sync.
    """
    with account_write(owner) as write:
        row = ApiToken.objects.owned_by(owner).with_id(token_id).first()
        if row is None:
            raise MissingError(NO_SUCH_TOKEN)
        for column, value in data.items():
            if column in _DEVICE_SETTINGS and getattr(row, column) != value:
                setattr(row, f"{column}_revision", write.revision)
            setattr(row, column, value)
        row.save(update_fields=[*data, *(f"{column}_revision" for column in _DEVICE_SETTINGS), "updated_at"])
        return row


def create_device_token(*, owner: User, name: str, scope: str) -> tuple[ApiToken, str]:
    """Create a token for an app through which the owner has just signed in; returns the row and the token's text.

    `owner` must have been loaded before the credentials were checked. Raises InvalidCredentialsError if the password
    has changed or the account was switched off since; AccountGoneError, TooManyTokensError.
    """
    with account_write(owner):
        # As above: no token may survive a reset that came between the check of the password and this lock.
        if not User.objects.filter(pk=owner.pk, password=owner.password, is_active=True).exists():
            raise InvalidCredentialsError
        return _create(owner, TokenKind.DEVICE, name=name, scope=scope)


def revoke_tokens(owner: User, rows: QuerySet[ApiToken], *, reason: EndReason = EndReason.REVOKED) -> int:
    """Delete these API tokens of the account with all that belongs to them; returns how many there were.

    The account's lock keeps those who write for a token from adding rows meanwhile, and the lock of the tokens those
    who only note that a token was used: otherwise a phone that asks at this moment could keep its token alive. It is a
    write with a revision: who writes for a token looks for it once more only if others have written since it was read.
    """
    with account_write(owner):
        ids = list(rows.select_for_update().values_list("pk", flat=True))
        revoked = ApiToken.objects.owned_by(owner).filter(pk__in=ids)
        record_ended_tokens(revoked, reason=reason, now=timezone.now())
        revoked.delete()
        return len(ids)


def _create(owner: User, kind: TokenKind, **fields: object) -> tuple[ApiToken, str]:
    if ApiToken.objects.owned_by(owner).count() >= MAX_TOKENS:
        raise TooManyTokensError
    text = new_token()
    prefix, digest = text[:PREFIX_LENGTH], TOKEN_HASH(text.encode()).hexdigest()
    return ApiToken.objects.create(owner=owner, kind=kind, prefix=prefix, digest=digest, **fields), text


def is_token_text(text: str) -> bool:
    """Whether the text has the form of a token."""
    return TOKEN_PATTERN.fullmatch(text) is not None


@compiled_query
def _token_by_digest(digest: str) -> Rows:
    return ApiToken.unscoped.select_related("owner").filter(digest=digest, owner__is_active=True)


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


def issue_app_code(*, owner: User, challenge: str) -> str:
    """Create a code for an app through which the owner has just signed in; returns its text.

    `owner` must have been loaded before the sign-in was checked. Raises InvalidCredentialsError if the password has
    changed or the account was switched off since; AccountGoneError.
    """
    text = get_random_string(_CODE_LENGTH)
    with account_lock(owner):
        if not User.objects.filter(pk=owner.pk, password=owner.password, is_active=True).exists():
            raise InvalidCredentialsError
        AppCode.objects.create(
            owner=owner,
            digest=_digest(text),
            challenge=challenge,
            auth_hash=owner.get_session_auth_hash(),
            ends_at=timezone.now() + CODE_LIFETIME,
        )
    return text


@count_failed_sign_ins()
def exchange_app_code(
    *, request: HttpRequest, code: str, verifier: str, name: str, scope: str, asked_at: dt.datetime
) -> tuple[ApiToken, str]:
    """Exchange the code for a device token; returns its row and text. `asked_at`: when the request came in.

    A code works once. A second exchange with the right verifier revokes the token of the first: one of the two clients
    has stolen code and verifier (RFC 6749, section 4.1.2). Failures count against the sign-in rate limit of the client
    address. Raises RateLimitedError, InvalidGrantError, InvalidCredentialsError, AccountGoneError, TooManyTokensError.
    """
    address = address_block(client_address(request))
    ATTEMPTS_BY_ADDRESS.hit(address)
    found = AppCode.unscoped.rows().select_related("owner").filter(digest=_digest(code)).first()
    if found is None:
        raise InvalidGrantError
    try:
        with account_write(found.owner):
            # Read again under the lock: of two exchanges of one code, the second must see that it is used.
            row = AppCode.objects.owned_by(found.owner).filter(pk=found.pk).first()
            token = _exchange(row, found.owner, verifier, name, scope, asked_at) if row else None
    except TooManyTokensError:
        # Not a failed attempt: the caller has proven who they are, as in a sign-in by password.
        ATTEMPTS_BY_ADDRESS.undo(address)
        raise
    if token is None:
        # Raised only here, after the commit: an error inside would roll back the revocation of the first token.
        raise InvalidGrantError
    ATTEMPTS_BY_ADDRESS.undo(address)
    SIGN_INS.count("ok")
    return token


def _exchange(
    row: AppCode, owner: User, verifier: str, name: str, scope: str, asked_at: dt.datetime
) -> tuple[ApiToken, str] | None:
    """Create the token, or return None if the code is refused. Must be called inside `account_write`."""
    now = timezone.now()
    # S256 (RFC 7636, section 4.2).
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    if not constant_time_compare(challenge, row.challenge):
        return None
    if row.used_at is not None:
        # A request that came in before the first exchange finished is a duplicate of it (a double click, a retry), not
        # a theft: it is refused, and the token stays.
        if row.used_at <= asked_at:
            revoke_tokens(owner, ApiToken.objects.owned_by(owner).with_id(row.token_id))
        return None
    if row.ends_at <= now or not constant_time_compare(row.auth_hash, owner.get_session_auth_hash()):
        return None
    row.token, text = create_device_token(owner=owner, name=name, scope=scope)
    row.used_at = now
    row.save(update_fields=["token", "used_at"])
    return row.token, text


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()


def purge_app_codes(*, now: dt.datetime) -> int:
    """Delete codes that expired a day ago; returns how many. Their tokens stay."""
    removed: int = AppCode.unscoped.rows().filter(ends_at__lte=now - _CODE_RETENTION).delete()[0]
    return removed
