"""The connection of an account: made, changed and removed. Nothing here speaks to the server."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from accounts.models import User
from carddav import models
from carddav.client import server_url_of
from carddav.models import Connection
from carddav.services.connection_lock import connection_of
from contacts_project.kernel.errors import DomainError, FieldError
from contacts_project.kernel.outbound import OutboundError, Reason, configured_rules
from contacts_project.kernel.ownership.account_lock import account_write

# What is wrong with a URL wherever the service runs. Whether it may be reached is judged when something is sent.
_ALWAYS_WRONG = {Reason.MALFORMED, Reason.SCHEME, Reason.USERINFO, Reason.HOST}
_IDENTITY = ("server_url", "username")


class ConnectionExistsError(DomainError):
    """An account has one connection."""

    message = "There is a CardDAV connection already: change it, or delete it first."


def create_connection(*, owner: User, password: str, settings: Mapping[str, Any]) -> Connection:
    """Make the account's connection. `settings` are columns. Raises ConnectionExistsError, FieldError for the URL."""
    check_server_url(settings["server_url"])
    with account_write(owner) as write:
        if Connection.objects.owned_by(owner).exists():
            raise ConnectionExistsError
        return Connection.objects.create(owner=owner, password=password, revision=write.revision, **settings)


def update_connection(
    *, owner: User, password: str | None, settings: Mapping[str, Any], now: dt.datetime
) -> Connection:
    """Change columns of the account's connection; None leaves the password. Raises MissingError, FieldError.

    Another server or user is another book: what was found out is forgotten, and a run under way loses its lock; who is
    whose card is kept and found again. A new login ends a pause. Another format of names goes out with the next run.
    """
    if "server_url" in settings:
        check_server_url(settings["server_url"])
    with account_write(owner) as write:
        row = connection_of(owner)
        before = {column: getattr(row, column) for column in (*_IDENTITY, "name_format")}
        for column, value in settings.items():
            setattr(row, column, value)
        is_other_book = any(before[column] != getattr(row, column) for column in _IDENTITY)
        if is_other_book:
            row.forget_book()
            row.held_until, row.holder, row.claim = None, "", None
        if password is not None:
            row.password = password
        if is_other_book or password is not None:
            row.clear_error()
        if before["name_format"] != row.name_format:
            clean = models.Mapping.objects.owned_by(owner).filter(connection=row, status=models.MappingStatus.CLEAN)
            clean.update(status=models.MappingStatus.DIRTY)
        row.next_sync_at = min(row.next_sync_at, now + dt.timedelta(seconds=row.auto_sync_interval))
        row.revision = write.revision
        row.save()
        return row


def delete_connection(*, owner: User) -> None:
    """Forget the server, its mappings and pending imports; people and what is there stay. Raises MissingError."""
    with account_write(owner):
        # A run that starts this moment refers to the row: from here on its insert waits, and finds that it is gone.
        Connection.objects.owned_by(owner).select_for_update().filter(pk=connection_of(owner).pk).get().delete()


def check_server_url(text: str) -> None:
    """Refuse what is no URL, bare domain or mail address. Raises FieldError."""
    try:
        configured_rules().check_url(server_url_of(text))
    except OutboundError as error:
        if error.reason in _ALWAYS_WRONG:
            raise FieldError("serverUrl", str(error)) from error
