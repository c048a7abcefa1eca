"""Sources that are tables: CSV files with a column mapping, and LinkedIn's connections."""

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from accounts.models import User
from contacts_project.kernel.texts import Text, define_text
from people.extensions import RelationshipTypeSpec
from people.importing.receipts import ROW
from people.importing.sources.columns import fill
from people.importing.sources.days import DateColumns, is_day
from people.importing.sources.drafts import DAY_FIELDS, RecordDraft, RecordResult
from people.importing.sources.records import InteractionRecord, RelationshipRecord
from people.importing.sources.tables import CsvTable, Row, TableOptions, open_table
from people.importing.sources.targets import BIRTHDAY_PARTS, IGNORE, ColumnTarget, read_mapping

_COLUMN = define_text("column_left_out", "the column “%(column)s” was left out")
_GUESSED_ENCODING = define_text(
    "encoding_uncertain",
    "the encoding of this file is a guess (%(encoding)s): check the letters of this row, and name the encoding if they"
    " are wrong",
)


class Sheet:
    """A table with a target for each column. Each subclass defines the columns of one product."""

    record_noun = ROW

    def __init__(self, owner: User, table: CsvTable, targets: Sequence[ColumnTarget], now: dt.datetime) -> None:
        self.table, self.targets = table, targets
        self.dates = read_dates(owner, table, targets, now)
        self.days = self.dates.reader()
        self.day_readers = {index: self.dates.reader(index) for index, target in enumerate(targets) if is_date(target)}

    def count(self) -> int:
        return sum(1 for _ in self.table.rows())

    def people(self) -> Iterator[RecordResult]:
        """Yield the rows as cards. Cells that cannot be imported become warnings."""
        for index, row in enumerate(self.table.rows()):
            if row.error:
                yield RecordResult(index=index, name="", error=row.error)
            else:
                draft = RecordDraft(self.days, row.warnings)
                if not self.table.encoding.is_certain and not all(map(str.isascii, row.cells)):
                    draft.warn(_GUESSED_ENCODING.format(encoding=self.table.encoding.name))
                self.fill(draft, row)
                yield draft.build_result(index)

    def relationship_types(self) -> Sequence[RelationshipTypeSpec]:
        return ()

    def interactions(self) -> Iterator[InteractionRecord]:
        return iter(())

    def relationships(self) -> Iterator[RelationshipRecord]:
        return iter(())

    def not_imported(self) -> Sequence[tuple[Text, Text]]:
        return ()

    def fill(self, draft: RecordDraft, row: Row) -> None:
        fill(draft, row, self.targets, day_readers=self.day_readers, leave_out=self.leave_out)

    def leave_out(self, draft: RecordDraft, index: int, cell: str) -> None:
        """Handle a cell whose column has no target."""
        draft.warn(_COLUMN.format(column=self.table.names[index][:60]))


def is_date(target: ColumnTarget) -> bool:
    """Whether the cells of a column are whole dates."""
    return target.field in DAY_FIELDS or (target.field == "birthday" and target.kind not in BIRTHDAY_PARTS)


def read_dates(owner: User, table: CsvTable, targets: Sequence[ColumnTarget], now: dt.datetime) -> DateColumns:
    """Read the dates of all rows once, to find out how they are written."""
    dates = DateColumns(owner, now.year, table.date_order)
    columns = [index for index, target in enumerate(targets) if is_date(target)]
    if columns and not table.date_order:
        dates.read_rows(
            ((index, row.cells[index]) for index in columns if index < len(row.cells)) for row in table.rows()
        )
    return dates


def date_orders(owner: User, table: CsvTable, targets: Sequence[ColumnTarget], now: dt.datetime) -> dict[int, str]:
    """The order of the dates in each column of days, by index.

    A column without a target is one if its samples are dates. It tells nothing about the others, since it is not read.
    """
    orders = _orders_of(read_dates(owner, table, targets, now), targets)
    assumed = [
        ColumnTarget("birthday") if target.field in {"", IGNORE} and _holds_days(table, index) else target
        for index, target in enumerate(targets)
    ]
    return _orders_of(read_dates(owner, table, assumed, now), assumed) | orders if assumed != list(targets) else orders


def _orders_of(dates: DateColumns, targets: Sequence[ColumnTarget]) -> dict[int, str]:
    return {index: dates.order(index) for index, target in enumerate(targets) if is_date(target)}


def _holds_days(table: CsvTable, index: int) -> bool:
    cells = [text for row in table.sample if len(row.cells) > index and (text := row.cells[index].strip())]
    return bool(cells) and all(map(is_day, cells))


def open_csv(owner: User, file: BinaryIO, mapping: str, now: dt.datetime, options: TableOptions) -> Sheet:
    """Open any table. Raises FieldError if it is none, or for an invalid mapping."""
    table = open_table(file, options)
    return Sheet(owner, table, read_mapping(mapping, table), now)


_LINKEDIN = {
    "First Name": ColumnTarget("name"),
    "Last Name": ColumnTarget("surname"),
    "URL": ColumnTarget("url", "linkedin"),
    "Email Address": ColumnTarget("email"),
    "Company": ColumnTarget("organization"),
    "Position": ColumnTarget("jobTitle"),
    "Connected On": ColumnTarget(IGNORE),
}


class LinkedIn(Sheet):
    """Connections.csv. There are notes above its header, and its last column is the day of the connection."""

    def fill(self, draft: RecordDraft, row: Row) -> None:
        super().fill(draft, row)
        for index, name in enumerate(self.table.names[: len(row.cells)]):
            if name == "Connected On" and row.cells[index].strip():
                found = self.days.read(row.cells[index])
                draft.add_custom("Connected on LinkedIn", found[0].isoformat() if found else row.cells[index])


def open_linkedin(owner: User, file: BinaryIO, now: dt.datetime, options: TableOptions) -> LinkedIn:
    """Raises FieldError if no line is the header of connections."""
    table = open_table(file, options, header=("First Name", "Last Name", "Connected On"))
    return LinkedIn(owner, table, [_LINKEDIN.get(name, ColumnTarget()) for name in table.names], now)
