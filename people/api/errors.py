"""How the API answers what people refuse."""

from contacts_project.kernel.api.errors import Failure
from people.merging.belongings import UndoConflictError
from people.merging.merge import AlreadyUndoneError

FAILURES: dict[type[Exception], Failure] = {
    AlreadyUndoneError: Failure(409, "already_undone"),
    UndoConflictError: Failure(409, "undo_conflict"),
}
