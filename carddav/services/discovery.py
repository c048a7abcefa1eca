"""Looks for cards on the server that are not imported yet."""

from accounts.models import User
from carddav.client import DavError
from carddav.services.books import server_access, work_in_book
from carddav.services.connection_lock import locked_connection
from carddav.services.receipts import Receipt
from carddav.sync.run import discover_new_cards


def discover_contacts(*, owner: User) -> Receipt:
    """Store new cards as pending imports; nothing else is changed on either side. Works with sync disabled.

    Raises MissingError, ConnectionBusyError.
    """
    receipt = Receipt()
    with locked_connection(owner) as context:
        try:
            with server_access(context.connection):
                work_in_book(context, discover_new_cards)
        except DavError as error:
            receipt.add_error(error.text)
        receipt.done = context.tally.discovered
        receipt.errors += context.tally.errors
        receipt.messages += context.tally.messages
    return receipt
