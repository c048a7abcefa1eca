"""One operation: what its handler, its serializers and its guards say of it."""

import re
from collections.abc import Iterator
from typing import Any

from drf_spectacular.openapi import AutoSchema
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.serializers import ListSerializer

from contacts_project.kernel.api.errors import PayloadTooLargeError
from contacts_project.kernel.api.openapi import fields  # noqa: F401 - registers what our fields look like
from contacts_project.kernel.api.openapi.failures import failure_answers
from contacts_project.kernel.errors import FieldError, MissingError, StaleError, UnavailableError

_END_OF_SUMMARY = re.compile(r"(?:(?<=[^.]\.)\s+(?=[A-Z`\d])|;\s+)")
_IF_NONE_MATCH = {
    "name": "If-None-Match",
    "in": "header",
    "description": "The ETag of an earlier answer: 304 when it is still the same.",
    "schema": {"type": "string"},
}
_IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "1 to 255 printable ASCII characters. For 24 hours the same request under the same key is answered "
    "as the first one was, with `Idempotent-Replayed: true`, and not carried out again.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
}


_IF_MATCH = {
    "name": "If-Match",
    "in": "header",
    "description": "The ETag that the record had when it was read: 412 when it has been changed since.",
    "schema": {"type": "string"},
}


class _ForgetfulType(type):
    """Keeps no view: DRF sets `view` on the schema class of a route in each request, and only instances need one.

    Kept there, the last view of each route would live as long as the process, with its request and all of its answer.
    """

    @property
    def view(cls) -> object:
        return None

    @view.setter
    def view(cls, view: object) -> None:
        pass


class ContractSchema(AutoSchema, metaclass=_ForgetfulType):
    """The schema class of every view."""

    @property
    def handler(self) -> Any:
        """The function that answers."""
        return getattr(self.view, getattr(self.view, "action", None) or self.method.lower(), None)

    @property
    def said(self) -> list[str]:
        """The docstring of the handler: its first clause, and the rest where there is one."""
        text = " ".join((getattr(self.handler, "__doc__", None) or "").split())
        return _END_OF_SUMMARY.split(text, maxsplit=1)

    def get_summary(self) -> str:
        return self.said[0].removesuffix(".")

    def get_description(self) -> str:  # type: ignore[override]  # as drf-spectacular has it
        return "".join(rest[:1].upper() + rest[1:] for rest in self.said[1:])

    def get_auth(self) -> list[dict[str, Any]]:
        """Nothing for an open route: `{}` there would say no more."""
        return [requirement for requirement in super().get_auth() if requirement]

    def get_request_serializer(self) -> Any:
        """A DELETE has the body that `extend_schema` gives it."""
        return None if self.method == "DELETE" else super().get_request_serializer()

    def _get_request_body(self, direction: Any = "request") -> Any:
        if self.method != "DELETE" or self.get_request_serializer() is None:
            return super()._get_request_body(direction)
        self.method = "POST"  # drf-spectacular describes no body of a DELETE
        try:
            return super()._get_request_body(direction)
        finally:
            self.method = "DELETE"

    def _map_basic_serializer(self, serializer: Any, direction: str) -> Any:
        """An answer has every field of its serializer but those that it calls `optional`."""
        schema = super()._map_basic_serializer(serializer, direction)
        if direction == "response" and "properties" in schema:
            schema["required"] = sorted(set(schema["properties"]) - set(getattr(serializer, "optional", ())))
        return schema

    def _map_serializer_field(self, field: Any, direction: Any, bypass_extensions: bool = False) -> Any:
        """With the bounds of a list of objects, which drf-spectacular leaves out."""
        schema = super()._map_serializer_field(field, direction, bypass_extensions)
        if isinstance(field, ListSerializer) and schema:
            given: Any = field  # the stubs do not know its bounds
            bounds = {"minItems": given.min_length, "maxItems": given.max_length}
            schema |= {name: bound for name, bound in bounds.items() if bound is not None}
        return schema

    def _is_list_view(self, serializer: Any = None) -> bool:
        """No answer is a bare list: the envelopes of `list` actions say what is in them."""
        return False

    def _get_parameters(self) -> list[dict[str, Any]]:
        parameters: list[dict[str, Any]] = super()._get_parameters()
        for parameter in parameters:
            if parameter["in"] == "path" and parameter["name"].endswith("_id"):
                parameter["schema"] = {"type": "string", "format": "uuid"}
        if self.key_refusals:
            parameters.append(_IDEMPOTENCY_KEY)
        conditions = [_IF_NONE_MATCH] if self.revalidates else [_IF_MATCH] if self.takes_if_match else []
        return [*parameters, *conditions]

    @property
    def key_refusals(self) -> tuple[type[Exception], ...]:
        """What an Idempotency-Key may be refused with, where the operation takes one."""
        refusals = getattr(self.view, "idempotency_refusals", None)
        return refusals(self.method, self.handler) if refusals else ()

    @property
    def revalidates(self) -> bool:
        """Whether the handler sends an ETag and answers 304."""
        return getattr(self.handler, "revalidates", False)

    @property
    def takes_if_match(self) -> bool:
        """Whether the handler writes only what If-Match allows, and answers 412."""
        return getattr(self.handler, "takes_if_match", False)

    def _get_response_bodies(self, direction: Any = "response") -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        if direction == "request":  # a webhook: what its receiver answers
            return bodies
        if self.revalidates:
            bodies["304"] = {"description": "The caller's copy is current."}
        if getattr(self.handler, "sends_etag", False):
            for status in bodies.keys() & {"200", "201"}:
                bodies[status]["x-etag"] = True
        refusals = failure_answers(self.failures())
        if self.takes_if_match:
            view: Any = self.view
            refusals["412"]["x-current"] = self.resolve_serializer(view.record_serializer(), "response").ref
        for status in refusals.keys() & bodies.keys():  # a page, beside the refusal as JSON
            refusals[status]["x-content"] = bodies.pop(status)["content"]
        return {**refusals, **bodies}

    def failures(self) -> Iterator[type[Exception]]:
        """The refusals that are part of the contract of this operation."""
        for guard in (*self.view.get_authenticators(), *self.view.get_permissions()):
            yield from guard.refusals(self.method) if hasattr(guard, "refusals") else ()
        places = {parameter["in"] for parameter in self._get_parameters()}
        if "path" in places:
            yield MissingError
        if "query" in places:
            yield FieldError
        if self._get_request_body():
            yield from (FieldError, UnsupportedMediaType, PayloadTooLargeError)
        if self.takes_if_match:
            yield StaleError
        yield UnavailableError
        yield from self.key_refusals
        yield from getattr(self.handler, "raises", ())
