"""The description of one operation, from its handler, serializers, authenticators and permissions."""

import re
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.serializers import ListSerializer

from contacts_project.kernel.api.errors import PayloadTooLargeError
from contacts_project.kernel.api.openapi.responses import failure_responses
from contacts_project.kernel.api.schema import marks_of
from contacts_project.kernel.errors import FieldError, MissingError, StaleError, UnavailableError
from contacts_project.kernel.json import JsonObject

Direction: TypeAlias = Literal["request", "response"]


# What depends on the instance of a field; the other fields have their schemas in fields.py.
class CharSchema(OpenApiSerializerFieldExtension):
    match_subclasses = True
    target_class = "contacts_project.kernel.api.fields.StrictCharField"

    def map_serializer_field(self, auto_schema: AutoSchema, direction: Direction) -> JsonObject:
        schema: dict[str, Any] = {"type": "string", "maxLength": self.target.max_length}
        if not self.target.allow_blank:
            schema["minLength"] = 1
        return schema


class ChoiceSchema(OpenApiSerializerFieldExtension):
    match_subclasses = True
    target_class = "contacts_project.kernel.api.fields.StrictChoiceField"

    def map_serializer_field(self, auto_schema: AutoSchema, direction: Direction) -> JsonObject:
        words = list(self.target.choices)
        return {"type": "string", "enum": [*words, None] if self.target.allow_null else words}


class OwnedListSchema(OpenApiSerializerFieldExtension):
    match_subclasses = True
    target_class = "contacts_project.kernel.api.fields.OwnedListField"

    def map_serializer_field(self, auto_schema: AutoSchema, direction: Direction) -> JsonObject:
        min_items = {} if self.target.allow_empty else {"minItems": 1}
        items = {"type": "string", "format": "uuid"}
        return {"type": "array", "items": items, **min_items, "maxItems": self.target.max_items}


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


class _ViewlessType(type):
    """Ignores assignments of `view` to the class: in each request DRF sets it there, and only instances need it.

    Otherwise the last view of each route, with its request and response, would stay in memory as long as the process.
    """

    @property
    def view(cls) -> object:
        return None

    @view.setter
    def view(cls, view: object) -> None:
        pass


class ContractSchema(AutoSchema, metaclass=_ViewlessType):
    """The schema class of every view."""

    @property
    def handler(self) -> Any:
        """The method of the view that handles the request."""
        return getattr(self.view, getattr(self.view, "action", None) or self.method.lower(), None)

    @property
    def docstring_parts(self) -> list[str]:
        """The docstring of the handler, split into its first clause and the rest, if any."""
        text = " ".join((getattr(self.handler, "__doc__", None) or "").split())
        return _END_OF_SUMMARY.split(text, maxsplit=1)

    def get_summary(self) -> str:
        return self.docstring_parts[0].removesuffix(".")

    def get_description(self) -> str:  # type: ignore[override]  # drf-spectacular itself has no type here
        return "".join(rest[:1].upper() + rest[1:] for rest in self.docstring_parts[1:])

    def get_auth(self) -> list[JsonObject]:
        """Omit drf-spectacular's empty requirement `{}` (\"or no authentication\"), so that public routes have none."""
        return [requirement for requirement in super().get_auth() if requirement]

    def get_request_serializer(self) -> Any:
        """A DELETE has a body only if `extend_schema` declares one."""
        return None if self.method == "DELETE" else super().get_request_serializer()

    def _get_request_body(self, direction: Direction = "request") -> Any:
        if self.method != "DELETE" or self.get_request_serializer() is None:
            return super()._get_request_body(direction)
        # drf-spectacular never describes the body of a DELETE.
        self.method = "POST"
        try:
            return super()._get_request_body(direction)
        finally:
            self.method = "DELETE"

    def _map_basic_serializer(self, serializer: Any, direction: Direction) -> Any:
        """In responses all fields are required except those in `optional` of the serializer."""
        schema = super()._map_basic_serializer(serializer, direction)
        if direction == "response" and "properties" in schema:
            schema["required"] = sorted(set(schema["properties"]) - set(getattr(serializer, "optional", ())))
        return schema

    def _map_serializer_field(self, field: Any, direction: Direction, bypass_extensions: bool = False) -> Any:
        """Add minItems and maxItems of lists of objects, which drf-spectacular omits."""
        schema = super()._map_serializer_field(field, direction, bypass_extensions)
        if isinstance(field, ListSerializer) and schema:
            list_field: Any = field  # the stubs lack min_length and max_length
            bounds = {"minItems": list_field.min_length, "maxItems": list_field.max_length}
            schema |= {name: bound for name, bound in bounds.items() if bound is not None}
        return schema

    def _is_list_view(self, serializer: Any = None) -> bool:
        """No response is a bare array: the envelope serializers of `list` actions describe the whole response."""
        return False

    def _get_parameters(self) -> list[JsonObject]:
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
        """The errors that an Idempotency-Key can cause; empty if the operation does not accept one."""
        refusals = getattr(self.view, "idempotency_refusals", None)
        return refusals(self.method, self.handler) if refusals else ()

    @property
    def revalidates(self) -> bool:
        """Whether the handler sends an ETag and supports 304."""
        return marks_of(self.handler).revalidates

    @property
    def takes_if_match(self) -> bool:
        """Whether the handler supports If-Match and 412."""
        return marks_of(self.handler).takes_if_match

    def _get_response_bodies(self, direction: Direction = "response") -> JsonObject:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        if direction == "request":  # a webhook: its responses are those of the receiver
            return bodies
        if self.revalidates:
            bodies["304"] = {"description": "The caller's copy is current."}
        if marks_of(self.handler).sends_etag:
            for status in bodies.keys() & {"200", "201"}:
                bodies[status]["x-etag"] = True
        refusals = failure_responses(self.failures())
        if self.takes_if_match:
            view: Any = self.view
            refusals["412"]["x-current"] = self.resolve_serializer(view.record_serializer(), "response").ref
        # The route also sends an HTML page with this status: both media types go into one response.
        for status in refusals.keys() & bodies.keys():
            refusals[status]["x-content"] = bodies.pop(status)["content"]
        return {**refusals, **bodies}

    def failures(self) -> Iterator[type[Exception]]:
        """Yield the errors of this operation, which become its error responses."""
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
        yield from marks_of(self.handler).raises
