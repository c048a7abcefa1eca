"""Status and code of this app's exceptions in the API."""

from contacts_project.kernel.api.errors import Failure
from people.contents.conflicts import AlreadyResolvedError
from people.importing.undo import ImportRunningError, ImportTooOldError, ImportUndoneError, UndoUnderWayError
from people.merging.related_rows import UndoConflictError
from people.merging.undo import MergeUndoneError
from people.models.account_counts import StorageLimitError

FAILURES: dict[type[Exception], Failure] = {
    AlreadyResolvedError: Failure(400, "already_resolved"),
    StorageLimitError: Failure(413, "too_large"),
    MergeUndoneError: Failure(409, "already_undone"),
    UndoConflictError: Failure(409, "undo_conflict"),
    ImportUndoneError: Failure(400, "already_undone"),
    ImportTooOldError: Failure(410, "import_too_old"),
    ImportRunningError: Failure(409, "import_running"),
    UndoUnderWayError: Failure(409, "busy"),
}
