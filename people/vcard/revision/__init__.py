"""Edits the lines of a card so that they describe its current values.

The lines are read again and compared with the card. A line whose values have not changed stays byte for byte, even if
the card shows less than the line contains. In other lines only the edited part changes. Removed values lose their
lines, and new values get new ones. `write_card` and `patch_card` use this.
"""

from collections.abc import Sequence

from people.vcard.builder import LineBuilder
from people.vcard.card import ENTRY_FIELDS, Card
from people.vcard.content_lines import ContentLine
from people.vcard.revision.entries import revise_entries
from people.vcard.revision.fields import revise_fields, revise_trailing_fields, revise_uid
from people.vcard.revision.names import revise_names
from people.vcard.revision.state import Revision

__all__ = ["Revision", "revise_lines"]


def revise_lines(
    lines: Sequence[ContentLine], parsed: Card, target: Card, builder: LineBuilder, *, full_name: str | None = None
) -> Revision:
    """Revise `lines`, which `parsed` was read from, to describe `target`. `target.lines` are parallel to them."""
    revision = Revision(lines, parsed, target, builder)
    remaining = {field: list(getattr(target, field)) for field in ENTRY_FIELDS}
    revise_uid(revision)
    revision.added += revise_names(revision, full_name)
    revise_fields(revision, remaining, full_name)
    revise_entries(revision, remaining)
    revise_trailing_fields(revision)
    revision.drop_companions()
    return revision
