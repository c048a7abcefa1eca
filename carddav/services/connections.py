"""The account's connection: it is created, changed, removed, and locked for a job that works in its book. No request is
sent."""

import datetime as dt
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager

from accounts.models import User
from carddav import models
from carddav.models import Connection
from carddav.sync.context import SyncContext
from carddav.sync.lock import LockedError, LockLostError, locked
from contacts_project.kernel.errors import DomainError, FieldError, MissingError
from contacts_project.kernel.external_waits import external_wait
from contacts_project.kernel.json import JsonMapping
from contacts_project.kernel.outbound.failures import OutboundError
from contacts_project.kernel.outbound.policy import Reason
from contacts_project.kernel.outbound.session import configured_rules
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.texts import define_text
from contacts_project.kernel.webdav.hrefs import normalize_server_url

_NO_DOMAIN = define_text(
    "server_without_domain", "This is neither a web address (https://...) nor the name of a domain (example.org)."
)

_MAX_WAIT_SECONDS, _POLL_SECONDS = 10.0, 0.25
# Reasons that hold under every policy. Whether the host may be reached is decided at each request, since the policy can
# change.
_INVALID_URL_REASONS = {Reason.MALFORMED, Reason.SCHEME, Reason.USERINFO, Reason.HOST}
# The dots of IDNA (UTS 46, 4.5).
_DOT, _END_OF_HOST = re.compile("[.。．｡]"), re.compile("[/?#:]")
_BOOK_IDENTITY_COLUMNS = ("server_url", "username")


class ConnectionExistsError(DomainError):
    """An account has at most one connection."""

    message = define_text("connection_exists", "There is a CardDAV connection already: change it, or delete it first.")


class ConnectionBusyError(DomainError):
    """Another process works with the server."""

    message = define_text("sync_running", "A sync is running. Try again when it has ended.")
    code = "busy"
    retry_after = 10


def get_connection(owner: User) -> Connection:
    """The account's connection. Raises MissingError."""
    connection = Connection.objects.owned_by(owner).first()
    if connection is None:
        raise MissingError
    return connection


@contextmanager
def locked_connection(owner: User) -> Iterator[SyncContext]:
    """Hold the connection's lock for a job that leaves no run, waiting ten seconds for it.

    Raises MissingError, also if the connection is removed meanwhile, and ConnectionBusyError, also if its server is
    changed meanwhile.
    """
    give_up_at = time.monotonic() + _MAX_WAIT_SECONDS
    while True:
        try:
            with locked(get_connection(owner)) as lock:
                # Read again under the lock: a run that held it may have changed the row.
                yield SyncContext(owner, get_connection(owner), lock)
                return
        except LockLostError:
            get_connection(owner)  # MissingError if the connection was removed
            raise ConnectionBusyError from None
        except LockedError:
            if time.monotonic() >= give_up_at:
                raise ConnectionBusyError from None
        with external_wait():
            time.sleep(_POLL_SECONDS)


def create_connection(*, owner: User, password: str, settings: JsonMapping) -> Connection:
    """Create the account's connection; `settings` are columns. Raises ConnectionExistsError, FieldError for the URL."""
    check_server_url(settings["server_url"])
    with account_write(owner) as write:
        if Connection.objects.owned_by(owner).exists():
            raise ConnectionExistsError
        return Connection.objects.create(owner=owner, password=password, revision=write.revision, **settings)


def update_connection(*, owner: User, password: str | None, settings: JsonMapping, now: dt.datetime) -> Connection:
    """Change columns of the account's connection; a password of None stays. Raises MissingError, FieldError.

    Another server or user means another book: what discovery found is forgotten, and the lock is taken from a run in
    progress. Mappings stay and are linked again by UID. A new login ends a pause. A new name format is sent with the
    next run.
    """
    if "server_url" in settings:
        check_server_url(settings["server_url"])
    with account_write(owner) as write:
        row = get_connection(owner)
        before = {column: getattr(row, column) for column in (*_BOOK_IDENTITY_COLUMNS, "name_format")}
        for column, value in settings.items():
            setattr(row, column, value)
        is_other_book = any(before[column] != getattr(row, column) for column in _BOOK_IDENTITY_COLUMNS)
        if is_other_book:
            row.clear_discovery()
            # A run in progress fails its next claim check, so that it stores nothing about the old server.
            row.held_until, row.holder, row.claim = None, "", None
        if password is not None:
            row.password = password
        if is_other_book or password is not None:
            row.clear_error()
        if before["name_format"] != row.name_format:
            # DIRTY makes the push compare FN again; no person has a new revision.
            clean = models.Mapping.objects.owned_by(owner).filter(connection=row, status=models.MappingStatus.CLEAN)
            clean.update(status=models.MappingStatus.DIRTY)
        row.next_sync_at = min(row.next_sync_at, now + dt.timedelta(seconds=row.auto_sync_interval))
        row.revision = write.revision
        row.save()
        return row


def delete_connection(*, owner: User) -> None:
    """Remove the connection with its mappings and pending imports; people and the server's cards stay. Raises
    MissingError."""
    with account_write(owner):
        # A concurrent insert of a run, which refers to this row, waits for the row lock and then fails, since the row
        # is gone.
        Connection.objects.owned_by(owner).select_for_update().filter(pk=get_connection(owner).pk).get().delete()


def check_server_url(text: str) -> None:
    """Raise FieldError for text that is no URL, domain or mail address."""
    try:
        check_reachable_url(text)
    except OutboundError as error:
        if error.reason in _INVALID_URL_REASONS:
            raise FieldError("serverUrl", error.text) from error


def check_reachable_url(text: str) -> None:
    """Raise FieldError for text without a scheme that is no domain, and OutboundError for a URL that the outbound
    policy refuses whatever its host resolves to."""
    url = normalize_server_url(text)
    # A word alone would be looked up in the network of this machine.
    if url != text.strip() and not _DOT.search(_END_OF_HOST.split(url.removeprefix("https://"))[0].strip(".")):
        raise FieldError("serverUrl", _NO_DOMAIN)
    configured_rules().check_url(url)
