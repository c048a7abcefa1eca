"""A client of the contact network service that also works offline (docs/clients.md).

`Connection` sends requests: sign-in, pages, retries. `Copy` keeps a copy of the account in SQLite, follows the change
feed, and sends the edits that were made offline. `contacts_client.routes` has all routes with their types, generated
from the API description.
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
