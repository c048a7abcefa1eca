"""TOTP (RFC 6238) and recovery codes."""

import datetime as dt
import hmac
import secrets

import pyotp
from django.utils.crypto import salted_hmac

from accounts.models import RecoveryCode, TotpDevice, User
from contacts_project.kernel.errors import DomainError, FieldError
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.texts import define_text

_WRONG_CODE = define_text("wrong_totp_code", "This is not the code that the app should show now. Is its clock right?")

ISSUER = "Contacts"
STEP_SECONDS = 30
_CODE_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # without 0, 1, I and O, which are misread
_RECOVERY_CODE_COUNT = 10
_CODE_LENGTH = 12  # 60 bits: cannot be guessed at ten attempts in 15 minutes


class MfaEnabledError(DomainError):
    """The account has a confirmed authenticator app."""

    message = define_text("mfa_enabled", "Two-factor sign-in is on already. Switch it off first.")


class MfaNotEnabledError(DomainError):
    """The account has no authenticator app to confirm or to renew recovery codes for."""

    message = define_text("mfa_not_enabled", "Two-factor sign-in has not been set up.")


class MfaRequiredError(DomainError):
    """The password is right, but the account also needs a code."""

    message = define_text("mfa_required", "Send the code of your authenticator app, or a recovery code, as well.")


def start_totp(*, user: User) -> tuple[str, str]:
    """Create a secret, not in use until it is confirmed; returns it and its otpauth URI. Raises MfaEnabledError."""
    secret = pyotp.random_base32()
    with account_write(user):
        devices = TotpDevice.objects.owned_by(user)
        if devices.filter(confirmed_at__isnull=False).exists():
            raise MfaEnabledError
        devices.delete()
        TotpDevice.objects.create(owner=user, secret=secret)
    return secret, pyotp.TOTP(secret).provisioning_uri(name=user.email, issuer_name=ISSUER)


def confirm_totp(*, user: User, code: str, now: dt.datetime) -> list[str]:
    """Switch two-factor sign-in on with a code of the app; returns the recovery codes.

    Raises MfaNotEnabledError, MfaEnabledError, FieldError.
    """
    # The code is not consumed: the user may sign in with the same one right after this.
    with account_write(user):
        device = TotpDevice.objects.owned_by(user).first()
        if device is None:
            raise MfaNotEnabledError
        if device.confirmed_at:
            raise MfaEnabledError
        if _find_time_step(device.secret, code, now) is None:
            raise FieldError("code", _WRONG_CODE)
        device.confirmed_at = now
        device.save(update_fields=["confirmed_at", "updated_at"])
        user.save(update_fields=["settings_revision"])  # the profile has mfaEnabled
        return _replace_recovery_codes(user)


def renew_recovery_codes(*, user: User) -> list[str]:
    """Replace all recovery codes; returns the new ones. Raises MfaNotEnabledError."""
    with account_write(user):
        if not has_second_factor(user):
            raise MfaNotEnabledError
        return _replace_recovery_codes(user)


def stop_totp(*, user: User) -> None:
    """Switch two-factor sign-in off and delete its recovery codes."""
    with account_write(user):
        if has_second_factor(user):
            user.save(update_fields=["settings_revision"])  # the profile has mfaEnabled
        TotpDevice.objects.owned_by(user).delete()
        RecoveryCode.objects.owned_by(user).delete()


def has_second_factor(user: User) -> bool:
    return TotpDevice.objects.owned_by(user).filter(confirmed_at__isnull=False).exists()


def consume_code(*, user: User, code: str, now: dt.datetime) -> bool:
    """Whether the code is right. If so it is consumed: the TOTP step with all earlier ones, or the recovery code."""
    device = TotpDevice.objects.owned_by(user).filter(confirmed_at__isnull=False).first()
    if device is None:
        return False
    step = _find_time_step(device.secret, code, now)
    if step is not None:
        # One conditional UPDATE, so that of two concurrent requests with the same code only one succeeds (RFC 6238,
        # section 5.2: a code must not be accepted twice). The same holds for the DELETE below.
        unused = TotpDevice.objects.owned_by(user).filter(pk=device.pk, last_step__lt=step)
        return bool(unused.update(last_step=step))
    return RecoveryCode.objects.owned_by(user).filter(digest=_digest(user, code)).delete()[0] > 0


def _find_time_step(secret: str, code: str, now: dt.datetime) -> int | None:
    """The time step that the code belongs to: the current one or a neighbour, since clocks differ. None if none."""
    current = int(now.timestamp()) // STEP_SECONDS
    totp, digits = pyotp.TOTP(secret), "".join(code.split())
    for step in (current, current - 1, current + 1):
        if hmac.compare_digest(totp.generate_otp(step).encode(), digits.encode()):
            return step
    return None


def _replace_recovery_codes(user: User) -> list[str]:
    RecoveryCode.objects.owned_by(user).delete()
    codes = ["".join(secrets.choice(_CODE_ALPHABET) for _ in range(_CODE_LENGTH)) for _ in range(_RECOVERY_CODE_COUNT)]
    RecoveryCode.objects.bulk_create(RecoveryCode(owner=user, digest=_digest(user, code)) for code in codes)
    return [f"{code[:4]}-{code[4:8]}-{code[8:]}" for code in codes]


def _digest(user: User, code: str) -> str:
    # Keyed, so that a copy of the database without SECRET_KEY cannot be searched for codes.
    folded = "".join(code.replace("-", "").split()).upper()
    return salted_hmac(f"accounts.recovery_code.{user.pk}", folded, algorithm="sha256").hexdigest()
