"""After a request of a device was refused: the device is told of the card again, and its owner of the refusal."""

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import AccountGoneError
from contacts_project.kernel.texts import Text, define_text
from dav.authentication import Credentials
from dav.errors import DavError
from dav.models import BookCard
from dav.resources.paths import Place, book_path, is_card_name, member_path
from dav.services.listed_again import list_refused
from dav.services.refusals import record_refusal

_REFUSED = define_text("dav_refused", "The request was refused.")
# Programs repeat a write when the card has changed meanwhile: that is how conditions work, and nothing is lost. They
# read the card again, since its ETag is not the one that they have.
_CONDITIONAL = 412


def note_refused(device: Credentials, place: Place, method: str, error: DavError) -> None:
    """Note the refusal of a write to a card. Nothing is noted of paths that are no cards of this account.

    Raises AccountGoneError.
    """
    owner = device.owner
    name = place.card_name(owner.pk) or ""
    if not is_card_name(name) or error.status in {401, 404} or method not in {"PUT", "DELETE", "MOVE"}:
        return
    # What was rolled back has not raised it.
    try:
        owner.refresh_from_db(fields=["revision"])
    except User.DoesNotExist:
        raise AccountGoneError from None
    if error.status != _CONDITIONAL and method != "MOVE":
        list_refused(device, name)
    if error.status != _CONDITIONAL:
        row = BookCard.objects.owned_by(owner).in_book().filter(name=name).first()
        href = member_path(book_path(owner.pk), name)
        reason = error.words if isinstance(error.words, Text) else _REFUSED
        record_refusal(device, href, reason, person_id=row.person_id if row else None)
