"""An account comes to the owner of its address, which nobody had proven before."""

from accounts.lifecycle import release_account
from accounts.models import ApiToken, OidcIdentity, User
from accounts.services.sessions import end_sessions
from contacts_project.kernel.ownership.writing import account_write


def shut_out_maker(user: User) -> None:
    """End what whoever made the account may have left: sessions, tokens, sign-ins by a provider, and ways of being
    told of it (apps above, by `on_account_claimed`). The account's data stay.
    """
    with account_write(user):
        end_sessions(user=user)
        ApiToken.objects.owned_by(user).delete()
        OidcIdentity.objects.owned_by(user).delete()
        release_account(user)
