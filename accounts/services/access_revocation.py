"""Cutting off whoever else may have had access to an account."""

import datetime as dt

from accounts.lifecycle import release_account
from accounts.models import ApiToken, AppCode, EmailChange, OidcIdentity, RecoveryCode, TotpDevice, User
from accounts.services.known_devices import delete_devices
from accounts.services.sessions import end_sessions
from contacts_project.kernel.ownership.account_lock import account_write


def end_access(user: User) -> None:
    """End every session and API token of the account, and forget the browsers that it was signed in to from."""
    with account_write(user):
        delete_devices(user)
        end_sessions(user=user)
        AppCode.objects.owned_by(user).delete()
        ApiToken.objects.owned_by(user).delete()


def revoke_access_of_others(user: User, *, since: dt.datetime | None = None) -> None:
    """Leave the account to who proves now that it is theirs, alone: sessions and tokens end, other apps switch off what
    tells of it (`on_account_claimed`), second factor, sign-ins by a provider and links that take a change of address
    back go. Of these three only what was made or changed `since` then, where that is given.

    The account's data stay, and so does its password, which the caller replaces.
    """
    with account_write(user):
        end_access(user)
        for model in (TotpDevice, RecoveryCode, OidcIdentity, EmailChange):
            rows = model.objects.owned_by(user)
            (rows.filter(updated_at__gte=since) if since else rows).delete()
        release_account(user)
