"""One-time codes: what a browser takes to an app, and the app exchanges for a token of its device."""

import base64
import datetime as dt
import hashlib

from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare, get_random_string

from accounts.models import ApiToken, AppCode, User
from accounts.services.api_tokens import TooManyTokensError, create_device_token
from accounts.services.credentials import BY_ADDRESS, SIGN_INS, InvalidCredentialsError, counting_refusals
from contacts_project.kernel.api.client_address import address_block, client_address
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.ownership.account_lock import account_lock, account_write

GOOD_FOR = dt.timedelta(seconds=60)
# How long it is known that a code was used, and for which token.
_KEPT = dt.timedelta(days=1)
_CHARACTERS = 43  # 62 to choose from: 256 bits


class InvalidGrantError(DomainError):
    """The code opens nothing, or not for who has this verifier: which of them is not said."""

    message = "This code was used already, is too old, or belongs to another sign-in. Sign in again."


def issue_app_code(*, owner: User, challenge: str) -> str:
    """A code for an app, by whose means the owner has just proven to be `owner` (read before the proof).

    Raises InvalidCredentialsError where the password has changed since, or the account was switched off;
    AccountGoneError.
    """
    text = get_random_string(_CHARACTERS)
    with account_lock(owner):
        if not User.objects.filter(pk=owner.pk, password=owner.password, is_active=True).exists():
            raise InvalidCredentialsError
        AppCode.objects.create(
            owner=owner,
            digest=_digest(text),
            challenge=challenge,
            auth_hash=owner.get_session_auth_hash(),
            ends_at=timezone.now() + GOOD_FOR,
        )
    return text


@counting_refusals()
def exchange_app_code(
    *, request: HttpRequest, code: str, verifier: str, name: str, scope: str, asked_at: dt.datetime
) -> tuple[ApiToken, str]:
    """The token of the device for the code, once; its row and the text. `asked_at`: when the request came in.

    Who exchanges a code again, with its verifier, ends the token that it gave: one of the two has stolen both (RFC
    6749, section 4.1.2). A request that came in before the first was through is its twin, and only refused. Failures
    draw on the caller's budget of login. Raises RateLimitedError, InvalidGrantError, InvalidCredentialsError,
    AccountGoneError, TooManyTokensError.
    """
    address = address_block(client_address(request))
    BY_ADDRESS.draw(address)
    found = AppCode.unscoped.rows().select_related("owner").filter(digest=_digest(code)).first()
    if found is None:
        raise InvalidGrantError
    try:
        with account_write(found.owner):
            row = AppCode.objects.owned_by(found.owner).filter(pk=found.pk).first()
            made = _exchange(row, found.owner, verifier, name, scope, asked_at) if row else None
    except TooManyTokensError:
        BY_ADDRESS.give_back(address)  # who is told so has proven who they are, as in a sign-in by password
        raise
    if made is None:
        raise InvalidGrantError
    BY_ADDRESS.give_back(address)
    SIGN_INS.count("ok")
    return made


def _exchange(
    row: AppCode, owner: User, verifier: str, name: str, scope: str, asked_at: dt.datetime
) -> tuple[ApiToken, str] | None:
    """Under the account's lock; None where it is refused."""
    now = timezone.now()
    if not constant_time_compare(_challenge_of(verifier), row.challenge):
        return None
    if row.used_at is not None:
        if row.used_at <= asked_at:
            ApiToken.objects.owned_by(owner).with_id(row.token_id).delete()
        return None
    if row.ends_at <= now or not constant_time_compare(row.auth_hash, owner.get_session_auth_hash()):
        return None
    row.token, text = create_device_token(owner=owner, name=name, scope=scope)
    row.used_at = now
    row.save(update_fields=["token", "used_at"])
    return row.token, text


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()


def _challenge_of(verifier: str) -> str:
    """By S256 (RFC 7636, section 4.2)."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")


def purge_app_codes(*, now: dt.datetime) -> int:
    """Forget codes that ended a day ago; how many. A token that one gave stays."""
    removed: int = AppCode.unscoped.rows().filter(ends_at__lte=now - _KEPT).delete()[0]
    return removed
