"""Files in request bodies."""

from typing import Any

from rest_framework.request import Request

from contacts_project.kernel.api.errors import PayloadTooLargeError
from contacts_project.kernel.errors import FieldError


def uploaded_file(request: Request, field: str, *, max_bytes: int, missing: str, too_large: str) -> Any:
    """The file in this field. Raises FieldError(missing), PayloadTooLargeError(too_large)."""
    file = request.data.get(field)
    if file is None or isinstance(file, str):
        raise FieldError(field, missing)
    # A file that is the body itself has no size; BodyLimitMiddleware has compared the length of the body.
    if getattr(file, "size", 0) > max_bytes:
        raise PayloadTooLargeError(too_large)
    return file
