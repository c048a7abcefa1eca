"""A client of the contact network service (docs/clients.md).

`Connection` sends requests: sign-in, pages, retries. `contacts_client.routes` has all routes with their types,
generated from the API description.
"""

from contacts_client.browser import SignInError, sign_in_by_browser
from contacts_client.connection import Connection, RefusedError
from contacts_client.ids import new_id

__all__ = ["Connection", "RefusedError", "SignInError", "new_id", "sign_in_by_browser"]
