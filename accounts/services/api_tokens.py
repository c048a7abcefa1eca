"""API tokens: made, shown once."""

import datetime as dt

from accounts.models import ApiToken, User
from accounts.models.api_token import new_token, token_digest
from contacts_project.kernel.ownership.writing import account_write

PREFIX_LENGTH = 12


def create_api_token(
    *, owner: User, name: str, scope: str, expires_at: dt.datetime | None = None
) -> tuple[ApiToken, str]:
    """Make a token; returns its row and the text, which is stored nowhere."""
    text = new_token()
    with account_write(owner):
        row = ApiToken.objects.create(
            owner=owner,
            name=name,
            scope=scope,
            expires_at=expires_at,
            prefix=text[:PREFIX_LENGTH],
            digest=token_digest(text),
        )
    return row, text
