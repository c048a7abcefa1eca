"""What an import or export of selected contacts answers."""

from dataclasses import dataclass

from carddav.sync.context import Failures


@dataclass(slots=True)
class Receipt(Failures):
    """`done` are those it was asked for that were imported, exported or discovered."""

    done: int = 0
    skipped: int = 0
