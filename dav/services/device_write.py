"""The ritual of every write of a device to the book."""

from collections.abc import Iterator
from contextlib import contextmanager

from contacts_project.kernel.ownership.account_lock import AccountWrite, account_write
from dav.authentication import UnauthorizedError
from dav.resources.book import BookResource


@contextmanager
def device_write(book: BookResource) -> Iterator[AccountWrite]:
    """Open a write of the account, with the book up to date as of the moment of its lock.

    Nothing can come between the conditions of a request, which are checked inside, and what it writes. Raises
    UnauthorizedError if the device's password was revoked meanwhile.
    """
    device, owner = book.device, book.device.owner
    book.bring_up_to_date()  # before the lock, which is then short
    with account_write(owner) as write:
        if not write.is_fresh:
            # To revoke a password is a write, too, and its row was read together with the owner's.
            if device.is_revoked():
                raise UnauthorizedError
            # Others have written since the cards were read: without this, an ETag of before would still match.
            owner.revision = write.revision - 1
            book.bring_up_to_date()
        owner.revision = write.revision
        yield write
