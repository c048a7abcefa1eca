"""The HTTP status and code for each error of this app."""

from contacts_project.kernel.api.errors import Failure
from meetings.services.sources import (
    AddressRefusedError,
    CheckBrokenError,
    CheckLoginError,
    CheckNotFoundError,
    CheckRefusedError,
    CheckTimeoutError,
    TooManySourcesError,
)

FAILURES: dict[type[Exception], Failure] = {
    AddressRefusedError: Failure(400, "policy"),
    TooManySourcesError: Failure(409, "calendar_source_limit"),
    CheckLoginError: Failure(401, codes=CheckLoginError.CODES, has_success=True, names_scheme=False),
    CheckNotFoundError: Failure(404, codes=CheckNotFoundError.CODES, has_success=True),
    CheckTimeoutError: Failure(408, codes=CheckTimeoutError.CODES, has_success=True),
    CheckRefusedError: Failure(400, codes=CheckRefusedError.CODES, has_success=True),
    CheckBrokenError: Failure(502, codes=CheckBrokenError.CODES, has_success=True),
}
