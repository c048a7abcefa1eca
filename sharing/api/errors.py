"""The HTTP status and code for each error of this app."""

from contacts_project.kernel.api.errors import Failure
from sharing.services.held import NotHeldError, OwnHoldError
from sharing.services.invitations import InvitationEndedError
from sharing.services.joining import AlreadyMemberError, ShareFullError
from sharing.services.shares import AlreadySharedError, GroupDeletedError, NotHostError, TooManySharesError
from sharing.services.undo import ChangedSinceError, NotUndoableError

FAILURES: dict[type[Exception], Failure] = {
    NotHostError: Failure(403, "not_host"),
    AlreadySharedError: Failure(409, "already_shared"),
    TooManySharesError: Failure(409, "share_limit"),
    InvitationEndedError: Failure(410, "invitation_expired"),
    OwnHoldError: Failure(403, "own_hold"),
    NotHeldError: Failure(409, "not_held"),
    ChangedSinceError: Failure(409, "changed_since"),
    NotUndoableError: Failure(409, "not_undoable"),
    AlreadyMemberError: Failure(409, "already_member"),
    ShareFullError: Failure(409, "share_full"),
    GroupDeletedError: Failure(409, "group_deleted"),
}
