"""API tokens: made, shown once."""

import datetime as dt

from rest_framework.exceptions import NotAuthenticated

from accounts.models import AccountSession, ApiToken, User
from accounts.models.api_token import new_token, token_digest
from contacts_project.kernel.ownership.writing import account_write

PREFIX_LENGTH = 12


def create_api_token(
    *, owner: User, session_key: str | None, name: str, scope: str, expires_at: dt.datetime | None = None
) -> tuple[ApiToken, str]:
    """Make a token for who holds this session; returns its row and the text, which is stored nowhere.

    Raises NotAuthenticated where the session has ended since the request came in: a reset ends all tokens there are,
    and none may come after it.
    """
    text = new_token()
    with account_write(owner):
        if not AccountSession.objects.owned_by(owner).filter(session_key=session_key).exists():
            raise NotAuthenticated("This session has ended. Sign in again.")
        row = ApiToken.objects.create(
            owner=owner,
            name=name,
            scope=scope,
            expires_at=expires_at,
            prefix=text[:PREFIX_LENGTH],
            digest=token_digest(text),
        )
    return row, text
