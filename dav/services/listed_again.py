"""Tells a device again of a card whose text it has wrong: with a newer REV, and so an ETag that it has not seen."""

import datetime as dt

from django.utils import timezone

from contacts_project.kernel.ownership.account_lock import account_write
from dav.authentication import Credentials
from dav.cards.texts import etag_of, revision_of, unpack, with_revision, without_categories
from dav.models import BookCard, ListedAgain

_FORM = "%Y%m%dT%H%M%SZ"


def list_again(device: Credentials, row: BookCard, *, etag: str, revision: int) -> None:
    """List the card in the next sync of the device. `etag` is that of its card, `revision` that of the open write."""
    rows = ListedAgain.objects.owned_by(device.owner)
    former = rows.filter(token=device.token, card=row).values_list("revised", flat=True).first() or ""
    text = unpack(row.text)
    shown = without_categories(text) if device.has_group_cards and not row.is_group else text
    revised = _later_than(revision_of(shown), former)
    shown_etag = etag_of(with_revision(shown, revised), row.shown_photo)
    values = {"etag": etag, "shown_etag": shown_etag, "revised": revised, "revision": revision}
    ListedAgain.objects.bulk_create(
        [ListedAgain(owner=device.owner, token=device.token, card=row, **values)],
        update_conflicts=True,
        unique_fields=["token", "card"],
        update_fields=[*values],
    )


def list_refused(device: Credentials, name: str) -> None:
    """List a card again after what the device sent for it was refused."""
    owner = device.owner
    column = "plain_etag" if device.has_group_cards else "etag"
    with account_write(owner) as write:
        row = BookCard.objects.owned_by(owner).in_book().filter(name=name).first()
        if row is None or device.is_revoked():
            return
        list_again(device, row, etag=str(getattr(row, column)), revision=write.revision)


def _later_than(*revisions: str) -> str:
    """The value of a REV that is later than these: now, if that is."""
    latest = timezone.now().astimezone(dt.UTC)
    for text in revisions:
        digits = "".join(filter(str.isdigit, text))[:14]
        try:
            when = dt.datetime.strptime(digits, "%Y%m%d%H%M%S").replace(tzinfo=dt.UTC)
        except ValueError:
            continue
        latest = max(latest, when + dt.timedelta(seconds=1))
    return latest.strftime(_FORM)
