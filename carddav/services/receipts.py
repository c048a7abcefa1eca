"""The result of an import or export of selected contacts."""

from dataclasses import dataclass

from carddav.sync.context import ErrorReport


@dataclass(slots=True)
class Receipt(ErrorReport):
    """`done` counts the contacts that were imported, exported or discovered."""

    done: int = 0
    skipped: int = 0
