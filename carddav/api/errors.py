"""The HTTP status and code for each error of this app."""

from carddav.services.connections import ConnectionBusyError, ConnectionExistsError
from carddav.services.server_checks import (
    CheckBrokenError,
    CheckLoginError,
    CheckNotFoundError,
    CheckRefusedError,
    CheckTimeoutError,
    ServerError,
)
from carddav.services.undo import RunAlreadyUndoneError
from contacts_project.kernel.api.errors import Failure

FAILURES: dict[type[Exception], Failure] = {
    RunAlreadyUndoneError: Failure(400, "already_undone"),
    ConnectionBusyError: Failure(409, "busy"),
    ConnectionExistsError: Failure(409, "connection_exists"),
    ServerError: Failure(502, codes=ServerError.CODES),
    CheckLoginError: Failure(401, codes=CheckLoginError.CODES, has_success=True, names_scheme=False),
    CheckNotFoundError: Failure(404, codes=CheckNotFoundError.CODES, has_success=True),
    CheckTimeoutError: Failure(408, codes=CheckTimeoutError.CODES, has_success=True),
    CheckRefusedError: Failure(400, codes=CheckRefusedError.CODES, has_success=True),
    CheckBrokenError: Failure(502, codes=CheckBrokenError.CODES, has_success=True),
}
