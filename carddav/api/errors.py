"""How the API answers what the sync refuses."""

from carddav.services.conflicts import AlreadyResolvedError
from carddav.services.working import ConnectionBusyError
from contacts_project.kernel.api.errors import Failure

FAILURES: dict[type[Exception], Failure] = {
    AlreadyResolvedError: Failure(400, "already_resolved"),
    ConnectionBusyError: Failure(409, "busy"),
}
