"""Status and error code of each domain error of this app."""

from contacts_project.kernel.api.errors import Failure
from relationships.services.relationships import PersonDeletedError
from relationships.services.types import TypeInUseError

FAILURES: dict[type[Exception], Failure] = {
    PersonDeletedError: Failure(400, "person_deleted"),
    TypeInUseError: Failure(400, "in_use"),
}
