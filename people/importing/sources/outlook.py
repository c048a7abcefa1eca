"""Outlook's CSV: the columns of the desktop program and of Outlook on the web, in the languages of the service."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from typing import BinaryIO

from accounts.models import User
from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.texts import define_text
from people.importing.sources.drafts import RecordDraft
from people.importing.sources.headers import outlook_columns
from people.importing.sources.sheets import Sheet
from people.importing.sources.tables import CsvTable, Row, TableOptions, open_table
from people.importing.sources.targets import WHOLE_ADDRESS_COLUMN, ColumnTarget, outlook_target

_NOT_OUTLOOK = define_text(
    "not_outlook",
    "The columns of this file are not those of Outlook in English, German, French, Spanish, Norwegian or Japanese.",
)
_RELATION_COLUMNS = {
    "Spouse": "spouse",
    "Children": "child",
    "Manager's Name": "manager",
    "Assistant's Name": "assistant",
    "Referred By": "referred by",
}
# What Outlook writes for every contact into columns that nobody filled in: these values contain no information.
_DEFAULT_VALUES = {
    "Priority": frozenset(("normal", "normale", "vanlig", "標準")),
    "Sensitivity": frozenset(("normal", "normale", "vanlig", "標準")),
    "Private": frozenset(("false", "aus", "falsch", "faux", "falso", "usann", "off", "no", "オフ")),
}
_REQUIRED_COLUMNS = frozenset(("First Name", "Last Name", "E-mail Address", "Company"))


class OutlookSheet(Sheet):
    """`columns` are the English names of the columns."""

    def __init__(self, owner: User, table: CsvTable, columns: Sequence[str], now: dt.datetime) -> None:
        self.columns = columns
        self.whole_addresses = {
            index: ColumnTarget("address.street", outlook_target(name).kind)
            for index, name in enumerate(columns)
            if WHOLE_ADDRESS_COLUMN.fullmatch(name)
        }
        targets = [ColumnTarget() if name in _DEFAULT_VALUES else outlook_target(name) for name in columns]
        super().__init__(owner, table, targets, now)

    def fill(self, draft: RecordDraft, row: Row) -> None:
        super().fill(draft, replace(row, cells=self._without_repeated_addresses(row.cells)))

    def _without_repeated_addresses(self, cells: Sequence[str]) -> Sequence[str]:
        """The cells without those that have an address in one piece, if its parts are there as well."""
        parts = {
            target.kind
            for index, (cell, target) in enumerate(zip(cells, self.targets, strict=False))
            if cell.strip() and target.field.startswith("address.") and index not in self.whole_addresses
        }
        repeated = {index for index, target in self.whole_addresses.items() if target.kind in parts}
        return ["" if index in repeated else cell for index, cell in enumerate(cells)]

    def leave_out(self, draft: RecordDraft, index: int, cell: str) -> None:
        """Names of other people become lines of the card, everything else becomes a custom field."""
        column = self.columns[index]
        if column in _RELATION_COLUMNS:
            for person in cell.split(";") if column == "Children" else [cell]:
                draft.add_related_person(_RELATION_COLUMNS[column], person)
        elif cell.strip().casefold() not in _DEFAULT_VALUES.get(column, ()):
            draft.add_custom(self.table.names[index], cell)


def open_outlook(owner: User, file: BinaryIO, now: dt.datetime, options: TableOptions) -> OutlookSheet:
    """Raises FieldError if the columns are not Outlook's."""
    table = open_table(file, options)
    columns = outlook_columns(table.names) or table.names
    if not _REQUIRED_COLUMNS.issubset(columns):
        raise FieldError("file", _NOT_OUTLOOK)
    return OutlookSheet(owner, table, columns, now)
