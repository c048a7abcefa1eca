"""Sources that are tables: CSV files with a column mapping, and LinkedIn's connections."""

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from accounts.models import User
from people.importing.sources.columns import build_day_reader, fill
from people.importing.sources.drafts import DAY_FIELDS, Draft, RecordResult
from people.importing.sources.records import InteractionRecord, RelationshipRecord, RelationshipTypeRecord
from people.importing.sources.tables import Row, Table, open_table
from people.importing.sources.targets import IGNORE, Target, read_mapping


class Sheet:
    """A table with a target for each column. Each subclass defines the columns of one product."""

    record_noun = "Row"

    def __init__(self, owner: User, table: Table, targets: Sequence[Target], now: dt.datetime) -> None:
        self.table, self.targets = table, targets
        dated = {"birthday", *DAY_FIELDS}
        date_columns = [index for index, target in enumerate(targets) if target.field in dated]
        self.days = build_day_reader(owner, table, date_columns, now.year)

    def people(self) -> Iterator[RecordResult]:
        """Yield the rows as cards. Cells that cannot be imported become warnings."""
        for index, row in enumerate(self.table.rows()):
            if row.error:
                yield RecordResult(index=index, name="", error=row.error)
            else:
                draft = Draft(self.days, row.warnings)
                self.fill(draft, row)
                yield draft.build_result(index)

    def relationship_types(self) -> Sequence[RelationshipTypeRecord]:
        return ()

    def interactions(self) -> Iterator[InteractionRecord]:
        return iter(())

    def relationships(self) -> Iterator[RelationshipRecord]:
        return iter(())

    def not_imported(self) -> Sequence[tuple[str, str]]:
        return ()

    def fill(self, draft: Draft, row: Row) -> None:
        fill(draft, row, self.table.names, self.targets)


def open_csv(owner: User, file: BinaryIO, mapping: str, now: dt.datetime) -> Sheet:
    """Open any table. Raises FieldError if it is none, or for an invalid mapping."""
    table = open_table(file)
    return Sheet(owner, table, read_mapping(mapping, table), now)


_LINKEDIN = {
    "First Name": Target("name"),
    "Last Name": Target("surname"),
    "URL": Target("url", "linkedin"),
    "Email Address": Target("email"),
    "Company": Target("organization"),
    "Position": Target("jobTitle"),
    "Connected On": Target(IGNORE),
}


class LinkedIn(Sheet):
    """Connections.csv. There are notes above its header, and its last column is the day of the connection."""

    def fill(self, draft: Draft, row: Row) -> None:
        super().fill(draft, row)
        for index, name in enumerate(self.table.names[: len(row.cells)]):
            if name == "Connected On" and row.cells[index].strip():
                found = self.days.read(row.cells[index])
                draft.add_custom("Connected on LinkedIn", found[0].isoformat() if found else row.cells[index])


def open_linkedin(owner: User, file: BinaryIO, now: dt.datetime) -> LinkedIn:
    """Raises FieldError if no line is the header of connections."""
    table = open_table(file, header=("First Name", "Last Name", "Connected On"))
    return LinkedIn(owner, table, [_LINKEDIN.get(name, Target()) for name in table.names], now)
