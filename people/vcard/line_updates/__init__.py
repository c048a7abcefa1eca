"""Edits the lines of a card so that they describe its current values.

The lines are read again and compared with the card. A line whose values have not changed stays byte for byte, even if
the card shows less than the line contains. In other lines only the edited part changes. Removed values lose their
lines, and new values get new ones. `write_card` and `patch_card` use this.
"""

from collections.abc import Sequence

from people.vcard.builder import LineBuilder
from people.vcard.card import ENTRY_FIELDS, Card
from people.vcard.content_lines import ContentLine
from people.vcard.line_updates.copies import update_copies
from people.vcard.line_updates.entries import update_entries
from people.vcard.line_updates.fields import update_fields, update_names, update_trailing_fields, update_uid
from people.vcard.line_updates.state import LineUpdate

__all__ = ["LineUpdate", "update_lines"]


def update_lines(
    lines: Sequence[ContentLine], parsed: Card, target: Card, builder: LineBuilder, *, full_name: str | None = None
) -> LineUpdate:
    """Update `lines`, which `parsed` was read from, to describe `target`. `target.lines` are parallel to them."""
    update = LineUpdate(lines, parsed, target, builder)
    remaining = {field: list(getattr(target, field)) for field in ENTRY_FIELDS}
    update_uid(update)
    update.added += update_names(update, full_name)
    update_fields(update, remaining, full_name)
    update_entries(update, remaining)
    update_trailing_fields(update)
    update_copies(update)
    update.drop_companions()
    return update
