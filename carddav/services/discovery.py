"""A look at the server for contacts that are not here yet."""

from accounts.models import User
from carddav.client import DavError
from carddav.services.books import server_access, work_in_book
from carddav.services.connection_lock import locked_connection
from carddav.services.receipts import Receipt
from carddav.sync.run import find_new


def discover_contacts(*, owner: User) -> Receipt:
    """Keep what is new on the server as pending imports; nothing else changes, here or there. Works with sync disabled.

    Raises MissingError, ConnectionBusyError.
    """
    receipt = Receipt()
    with locked_connection(owner) as context:
        try:
            with server_access(context.connection):
                work_in_book(context, find_new)
        except DavError as error:
            receipt.fail(str(error))
        receipt.done = context.tally.discovered
        receipt.errors += context.tally.errors
        receipt.messages += context.tally.messages
    return receipt
