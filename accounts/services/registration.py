"""Registration of accounts."""

import datetime as dt
from ipaddress import ip_address

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest

from accounts.models import MailKind, RegistrationLock, User
from accounts.models.user import NEW_ACCOUNT, verification_is_mandatory
from accounts.passwords import hash_password
from accounts.services.addresses import prove_email
from accounts.services.mail import queue_mail
from accounts.signals import start_account
from contacts_project.kernel.client_address import address_block, client_address
from contacts_project.kernel.errors import DomainError, FieldError
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.rate_limits import RateLimit
from contacts_project.kernel.texts import define_text

_ACCOUNT_EXISTS = define_text(
    "account_exists", "There is an account with this address. Sign in, or reset the password."
)

DEMO_EMAIL = "demo@example.org"
REGISTRATIONS = RateLimit("registration", 60, 3600)


class RegistrationClosedError(DomainError):
    """Registration is closed on this instance."""

    message = define_text("registration_closed", "This service takes no new accounts. Its operator can invite you.")


def awaits_operator() -> bool:
    """Whether the instance has no account yet. The account of `seed_demo` does not count."""
    return not User.objects.exclude(email=DEMO_EMAIL, is_superuser=False).exists()


def registration_is_open() -> bool:
    """Whether anybody may register now."""
    if settings.REGISTRATION == "first":
        return awaits_operator()
    return bool(settings.REGISTRATION == "open")


def register_account(
    *, email: str, password: str | None, vouched_at: dt.datetime | None = None, **fields: object
) -> User:
    """Create an account and everything that a new account has (`on_account_created`), in one transaction.

    The first account of the instance becomes its operator. `vouched_at` is set if a provider has verified the address.
    Raises RegistrationClosedError, and FieldError if another account has the address; but not if verification is
    mandatory: then the mail decides, and nobody may find out who has an account.
    """
    if not registration_is_open():
        raise RegistrationClosedError
    hashed = hash_password(password)  # slow by design, so outside the transaction
    with transaction.atomic():
        RegistrationLock.acquire()
        # Again, under the lock: with REGISTRATION=first, another request may have registered the first account.
        if not registration_is_open():
            raise RegistrationClosedError
        if not (vouched_at or verification_is_mandatory()) and User.objects.with_email(email).exists():
            raise FieldError("email", _ACCOUNT_EXISTS)
        is_first = awaits_operator()
        address = User.objects.normalize_email(email)
        user = User(email=address, password=hashed, is_staff=is_first, is_superuser=is_first, **NEW_ACCOUNT, **fields)
        user.save(force_insert=True)
        with account_write(user):
            start_account(user.pk)
            if vouched_at:
                prove_email(user, address, claims=True, now=vouched_at)
            else:
                queue_mail(kind=MailKind.VERIFY, address=address, user=user)
    return user


def count_registration(request: HttpRequest) -> None:
    """Count a registration of the client address. Raises RateLimitedError."""
    address = client_address(request)
    # Local scripts and tests are not limited. Behind an unconfigured proxy every client would look local, hence the
    # condition on TRUSTED_PROXY_COUNT.
    if address and ip_address(address).is_loopback and not settings.TRUSTED_PROXY_COUNT:
        return
    REGISTRATIONS.hit(address_block(address))
