"""One-time authorization codes: the browser carries one to an app, which exchanges it for a device token."""

import base64
import datetime as dt
import hashlib

from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare, get_random_string

from accounts.models import ApiToken, AppCode, User
from accounts.services.api_tokens import TooManyTokensError, create_device_token, revoke_tokens
from accounts.services.credentials import ATTEMPTS_BY_ADDRESS, SIGN_INS, InvalidCredentialsError, count_failed_sign_ins
from contacts_project.kernel.client_address import address_block, client_address
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.ownership.account_lock import account_lock, account_write
from contacts_project.kernel.texts import define_text

CODE_LIFETIME = dt.timedelta(seconds=60)
# A used code is stored for this long, so that a second exchange is recognised and revokes the token.
_RETENTION = dt.timedelta(days=1)
_CODE_LENGTH = 43  # of 62 characters: 256 bits


class InvalidGrantError(DomainError):
    """The code is unknown, expired or used, or the verifier does not match. The message does not reveal which."""

    message = define_text(
        "invalid_grant", "This code was used already, is too old, or belongs to another sign-in. Sign in again."
    )


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
    has stolen code and verifier (RFC 6749, section 4.1.2). Failures count against the client address's sign-in budget.
    Raises RateLimitedError, InvalidGrantError, InvalidCredentialsError, AccountGoneError, TooManyTokensError.
    """
    address = address_block(client_address(request))
    ATTEMPTS_BY_ADDRESS.draw(address)
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
        ATTEMPTS_BY_ADDRESS.give_back(address)
        raise
    if token is None:
        # Raised only here, after the commit: an error inside would roll back the revocation of the first token.
        raise InvalidGrantError
    ATTEMPTS_BY_ADDRESS.give_back(address)
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
    removed: int = AppCode.unscoped.rows().filter(ends_at__lte=now - _RETENTION).delete()[0]
    return removed
