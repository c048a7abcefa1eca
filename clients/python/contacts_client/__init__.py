"""A client of the contact network service, which also works without the network (docs/clients.md).

`Connection` speaks HTTP: sign-in, pages, retries. `Copy` keeps the account in SQLite, follows the change feed, and
replays edits. `contacts_client.routes` has every route with its types, generated out of the API description.
"""

from contacts_client.browser import SignInError, sign_in_by_browser
from contacts_client.connection import Connection, RefusedError
from contacts_client.copy import AnotherAccountError, Copy, SyncReport
from contacts_client.ids import new_id
from contacts_client.store import Action, Conflict, Edit, State, Store

__all__ = [
    "Action",
    "AnotherAccountError",
    "Conflict",
    "Connection",
    "Copy",
    "Edit",
    "RefusedError",
    "SignInError",
    "State",
    "Store",
    "SyncReport",
    "new_id",
    "sign_in_by_browser",
]
