"""Revoking every credential with which somebody else may have access to an account."""

import datetime as dt

from accounts.lifecycle import release_account
from accounts.models import ApiToken, AppCode, EmailChange, OidcIdentity, RecoveryCode, TotpDevice, User
from accounts.services.api_tokens import revoke_tokens
from accounts.services.known_devices import forget_devices
from accounts.services.sessions import end_sessions
from contacts_project.kernel.ownership.account_lock import account_write


def revoke_access(user: User) -> None:
    """End every session, API token and app code of the account, and forget its known browsers."""
    with account_write(user):
        forget_devices(user)
        end_sessions(user=user)
        AppCode.objects.owned_by(user).delete()
        revoke_tokens(user, ApiToken.objects.owned_by(user))


def revoke_access_of_others(user: User, *, since: dt.datetime | None = None) -> None:
    """Revoke all access, for an account whose owner has just proven that it is theirs.

    Ends sessions and tokens, and deletes the second factor, the provider identities and the links that undo a change
    of address; of these three only what was created or changed after `since`, if given. Other apps switch off their
    notifications (`on_account_claimed`). Data and password stay: the caller replaces the password.
    """
    with account_write(user):
        revoke_access(user)
        for model in (TotpDevice, RecoveryCode, OidcIdentity, EmailChange):
            rows = model.objects.owned_by(user)
            (rows.filter(updated_at__gte=since) if since else rows).delete()
        release_account(user.pk)
