"""The lines of a card that says something else now than they do.

Lines are compared with what the card says by reading them again: one whose reading has not changed stays letter for
letter, also where the reading shows less than the line holds. Of the others only the part that was edited is written
anew; what was removed goes, what is new gets lines of its own. `write_card` and `patch_card` stand on this.
"""

from collections.abc import Sequence

from people.vcard.builder import LineBuilder
from people.vcard.card import Card
from people.vcard.content_lines import ContentLine
from people.vcard.revision.entries import FIELDS, revise_entries
from people.vcard.revision.fields import revise_facts, revise_fields, revise_uid
from people.vcard.revision.names import revise_names
from people.vcard.revision.state import Revision

__all__ = ["Revision", "revise"]


def revise(
    lines: Sequence[ContentLine], said: Card, now: Card, builder: LineBuilder, *, full_name: str | None = None
) -> Revision:
    """What becomes of `lines`, which say `said`, for the card `now`, whose `lines` hold its entries."""
    revision = Revision(lines, said, now, builder)
    left = {field: list(getattr(now, field)) for field in FIELDS}
    revise_uid(revision)
    revision.new += revise_names(revision, full_name)
    revise_fields(revision, left, full_name)
    revise_entries(revision, left)
    revise_facts(revision)
    revision.drop_companions()
    return revision
