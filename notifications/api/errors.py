"""Status and code of the errors that notifications raise."""

from contacts_project.kernel.api.errors import Failure
from notifications.notices.actions import ActionExpiredError
from notifications.notices.unsubscribe import BadTokenError
from notifications.services.calendar_feeds import TooManyFeedsError
from notifications.services.destinations import (
    DuplicateUrlError,
    SecretMissingError,
    TooManyDestinationsError,
    UrlRefusedError,
)
from notifications.services.devices import TooManyDevicesError

FAILURES: dict[type[Exception], Failure] = {
    ActionExpiredError: Failure(410, "expired"),
    BadTokenError: Failure(400, "invalid_token"),
    DuplicateUrlError: Failure(409, "duplicate"),
    SecretMissingError: Failure(400, "invalid"),
    TooManyDestinationsError: Failure(409),  # without a code: the specification gives it none
    TooManyDevicesError: Failure(409, "too_many_devices"),
    TooManyFeedsError: Failure(409, "too_many_feeds"),
    UrlRefusedError: Failure(400, codes=UrlRefusedError.CODES),
}
