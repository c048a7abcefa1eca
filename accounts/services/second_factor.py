"""TOTP (RFC 6238) and recovery codes."""

import datetime as dt
import hmac
import secrets

import pyotp
from django.utils.crypto import salted_hmac

from accounts.models import RecoveryCode, TotpDevice, User
from contacts_project.kernel.errors import DomainError, FieldError
from contacts_project.kernel.ownership.account_lock import account_write

ISSUER = "Contacts"
STEP_SECONDS = 30
_CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # without 0, 1, I and O, which are misread
_CODES = 10
_CODE_LENGTH = 12  # 60 bits: nothing to guess at ten tries a quarter of an hour


class AlreadyOnError(DomainError):
    """The account has a confirmed app; it has to be switched off first."""

    message = "Two-factor sign-in is on already. Switch it off first."


class NotOnError(DomainError):
    """There is no app to confirm, or none that recovery codes could stand in for."""

    message = "Two-factor sign-in has not been set up."


class MfaRequiredError(DomainError):
    """The password is right; a code is needed too."""

    message = "Send the code of your authenticator app, or a recovery code, as well."


def start_totp(*, user: User) -> tuple[str, str]:
    """Make a new secret, which counts once it is confirmed; returns it and its otpauth URI. Raises AlreadyOnError."""
    secret = pyotp.random_base32()
    with account_write(user):
        devices = TotpDevice.objects.owned_by(user)
        if devices.filter(confirmed_at__isnull=False).exists():
            raise AlreadyOnError
        devices.delete()
        TotpDevice.objects.create(owner=user, secret=secret)
    return secret, pyotp.TOTP(secret).provisioning_uri(name=user.email, issuer_name=ISSUER)


def confirm_totp(*, user: User, code: str, now: dt.datetime) -> list[str]:
    """Switch two-factor sign-in on with a code of the app; returns the recovery codes.

    The code is not spent: who confirms and signs in at once may do so with the same one.
    """
    with account_write(user):
        device = TotpDevice.objects.owned_by(user).first()
        if device is None:
            raise NotOnError
        if device.confirmed_at:
            raise AlreadyOnError
        if _step_of(device.secret, code, now) is None:
            raise FieldError("code", "This is not the code that the app should show now. Is its clock right?")
        device.confirmed_at = now
        device.save(update_fields=["confirmed_at", "updated_at"])
        user.mark_changed()
        return _new_codes(user)


def renew_recovery_codes(*, user: User) -> list[str]:
    """Replace all recovery codes; returns the new ones. Raises NotOnError."""
    with account_write(user):
        if not has_second_factor(user):
            raise NotOnError
        return _new_codes(user)


def stop_totp(*, user: User) -> None:
    """Switch two-factor sign-in off, with its recovery codes."""
    with account_write(user):
        if has_second_factor(user):
            user.mark_changed()
        TotpDevice.objects.owned_by(user).delete()
        RecoveryCode.objects.owned_by(user).delete()


def has_second_factor(user: User) -> bool:
    return TotpDevice.objects.owned_by(user).filter(confirmed_at__isnull=False).exists()


def spend_code(*, user: User, code: str, now: dt.datetime) -> bool:
    """Whether the code opens the account; if so, it is used up: a TOTP step with all before it, or a recovery code."""
    device = TotpDevice.objects.owned_by(user).filter(confirmed_at__isnull=False).first()
    if device is None:
        return False
    step = _step_of(device.secret, code, now)
    if step is not None:
        mine = TotpDevice.objects.owned_by(user).filter(pk=device.pk, last_step__lt=step)
        return bool(mine.update(last_step=step))
    return RecoveryCode.objects.owned_by(user).filter(digest=_digest(user, code)).delete()[0] > 0


def _step_of(secret: str, code: str, now: dt.datetime) -> int | None:
    """The time step whose code this is: the one now, or a neighbour for clocks that are a little off."""
    current = int(now.timestamp()) // STEP_SECONDS
    totp, digits = pyotp.TOTP(secret), "".join(code.split())
    for step in (current, current - 1, current + 1):
        if hmac.compare_digest(totp.generate_otp(step).encode(), digits.encode()):
            return step
    return None


def _new_codes(user: User) -> list[str]:
    RecoveryCode.objects.owned_by(user).delete()
    codes = ["".join(secrets.choice(_CODE_LETTERS) for _ in range(_CODE_LENGTH)) for _ in range(_CODES)]
    RecoveryCode.objects.bulk_create(RecoveryCode(owner=user, digest=_digest(user, code)) for code in codes)
    return [f"{code[:4]}-{code[4:8]}-{code[8:]}" for code in codes]


def _digest(user: User, code: str) -> str:
    folded = "".join(code.replace("-", "").split()).upper()
    return salted_hmac(f"accounts.recovery_code.{user.pk}", folded, algorithm="sha256").hexdigest()
