"""API tokens: made, shown once."""

import datetime as dt

from accounts.models import AccountSession, ApiToken, User
from accounts.models.api_token import new_token, token_digest
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.ownership.account_lock import account_write

PREFIX_LENGTH = 12


class SessionEndedError(DomainError):
    """The session that asks has ended since the request came in."""

    message = "This session has ended. Sign in again."


def create_api_token(
    *, owner: User, session_key: str | None, name: str, scope: str, expires_at: dt.datetime | None = None
) -> tuple[ApiToken, str]:
    """Make a token for who holds this session; returns its row and the text, which is stored nowhere.

    Raises SessionEndedError: a reset ends all sessions and tokens there are, and none may come after it.
    """
    text = new_token()
    with account_write(owner):
        if not AccountSession.objects.owned_by(owner).filter(session_key=session_key).exists():
            raise SessionEndedError
        row = ApiToken.objects.create(
            owner=owner,
            name=name,
            scope=scope,
            expires_at=expires_at,
            prefix=text[:PREFIX_LENGTH],
            digest=token_digest(text),
        )
    return row, text
