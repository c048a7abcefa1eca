"""Examples for the API description.

Each property name has one plausible value, which is added to every schema with such a property. From these, each
operation gets an example of its JSON body and of its response.
"""

from typing import Any

EXAMPLES: dict[str, Any] = {
    "id": "01979a3e-6c5b-7d21-9a44-2f6f3c8e1b70",
    "personId": "01979a3e-6c5b-7d21-9a44-2f6f3c8e1b70",
    "email": "ada@example.org",
    "password": "Analytical-1843",
    "name": "Ada",
    "surname": "Lovelace",
    "middleName": "King",
    "nickname": "Countess",
    "prefix": "Lady",
    "organization": "Analytical Engines",
    "jobTitle": "Programmer",
    "number": "+44 20 7946 0958",
    "streetLine1": "12 St James's Square",
    "locality": "London",
    "country": "United Kingdom",
    "postalCode": "SW1Y 4JH",
    "latitude": 51.5072,
    "longitude": -0.1357,
    "url": "https://example.org/ada",
    "handle": "@ada",
    "protocol": "matrix",
    "notes": "Met at the Royal Society.",
    "anniversary": "1835-07-08",
    "deathday": "1852-11-27",
    "phoneticName": "Eida",
    "phoneticSurname": "Lavleis",
    "lastContact": "2026-05-01",
    "date": "1815-12-10",
    "title": "First program",
    "color": "#4C6EF5",
    "label": "Friend",
    "timezone": "Europe/London",
    "language": "en",
    "token": "cnt_...",
    "createdAt": "2026-05-01T09:30:00.000Z",
    "updatedAt": "2026-05-01T09:30:00.000Z",
    "displayName": "Ada Lovelace",
    "fullName": "Ada Lovelace",
    "personName": "Ada Lovelace",
    "secondLastName": "Byron",
    "suffix": "FRS",
    "gender": "female",
    "type": "home",
    "key": "Instrument",
    "value": "Harp",
    "streetLine2": "First floor",
    "geocodeStatus": "skipped",
    "region": "England",
    "description": "Everybody I grew up with",
    "inverseLabel": "Student",
    "slug": "shirt-size",
    "photo": "5f2b6c1e-01979a3e6c5b7d219a442f6f3c8e1b70.jpg",
    "uid": "urn:uuid:01979a3e-6c5b-7d21-9a44-2f6f3c8e1b70",
    "message": "It is done.",
    "csrfToken": "kvND1myS8KXVP0fK6UbcQQmCiiiSmI2D",
    "currentPassword": "Analytical-1843",
    "newPassword": "Difference-1822",
    "confirmationText": "DELETE",
    "endpoint": "https://push.example.org/send/abc",
    "userAgent": "Mozilla/5.0",
    "ip": "203.0.113.7",
    "reason": "nothing new: this person is there already",
    "version": "1.0.0",
}

#: Examples that override EXAMPLES in schemas whose names begin with the key.
SCHEMA_EXAMPLES: dict[str, dict[str, Any]] = {
    "ApiToken": {"name": "my laptop", "prefix": "cnt_9F7L4iWT"},
    "NewApiToken": {"name": "my laptop", "prefix": "cnt_9F7L4iWT"},
    "Interaction": {"kind": "CALL", "title": "Her birthday", "personIds": [EXAMPLES["id"]]},
    "BulkRequest": {"personIds": [EXAMPLES["id"]]},
    "Destination": {"label": "My phone", "url": "https://ntfy.example.org/ada", "token": "tk_..."},
    "CreateDestination": {"label": "My phone", "url": "https://ntfy.example.org/ada", "token": "tk_..."},
    "UpdateDestination": {"label": "My phone", "url": "https://ntfy.example.org/ada", "token": "tk_..."},
    "CodeRequest": {"code": "123456"},
    "DeviceSignIn": {"name": "my phone"},
    "DestinationTest": {"code": "timeout"},
    "Group": {"name": "Family"},
    "InverseType": {"name": "STUDENT", "label": "Student"},
    "Location": {"label": "Her desk"},
    "PatchedRelationshipType": {"name": "MENTOR", "label": "Mentor"},
    "Provider": {"id": "company", "name": "Company sign-in"},
    "QuietHours": {"from": "22:00", "to": "07:00"},
    "RelationshipType": {"name": "MENTOR", "label": "Mentor"},
    "ResetRequest": {"token": "from-the-mail"},
    "Template": {"name": "Shirt size"},
    "TokenRequest": {"token": "from-the-mail"},
    "TypeSummary": {"name": "MENTOR", "label": "Mentor"},
}

# Properties that are usually null: no failure, no deletion, no override.
_NULL_PROPERTIES = {
    "autoDisabledAt",
    "deletedAt",
    "displayNameOverride",
    "lastError",
    "lastErrorAt",
    "lastFailureAt",
    "lastFailureCode",
}


_BY_FORMAT = {
    "date": "2026-05-01",
    "date-time": "2026-05-01T09:30:00.000Z",
    "uri": "https://example.org",
    "uuid": EXAMPLES["id"],
}
_BY_TYPE = {"string": "text", "integer": 1, "number": 1, "boolean": True, "null": None}

Schema = dict[str, Any]


def add_examples(result: Schema, **kwargs: object) -> Schema:
    """Postprocessing hook of drf-spectacular: add examples to properties, then to bodies and responses."""
    schemas = result.get("components", {}).get("schemas", {})
    for title, schema in schemas.items():
        overrides = next((names for start, names in SCHEMA_EXAMPLES.items() if title.startswith(start)), {})
        for name, described in schema.get("properties", {}).items():
            if name in overrides:
                described["examples"] = [overrides[name]]
            elif name in EXAMPLES and _matches_type(described, EXAMPLES[name]):
                described.setdefault("examples", [EXAMPLES[name]])
    for path in result["paths"].values():
        for operation in path.values():
            _add_body_example(operation.get("requestBody", {}), schemas, is_request=True)
            for response in operation["responses"].values():
                _add_body_example(response, schemas, is_request=False)
    for response in result["components"]["responses"].values():
        _add_body_example(response, schemas, is_request=False)
    for webhook in result["webhooks"].values():
        _add_body_example(webhook["post"]["requestBody"], schemas, is_request=False)
    return result


def _matches_type(described: Schema, example: object) -> bool:
    types = described.get("type", ())
    example_type = "string" if isinstance(example, str) else "number"
    return example_type in ([types] if isinstance(types, str) else types) and "enum" not in described


def _add_body_example(described: Schema, schemas: Schema, *, is_request: bool) -> None:
    media = described.get("content", {}).get("application/json")
    if media and "schema" in media and "example" not in media:
        media["example"] = example_of(media["schema"], schemas, is_request=is_request)


def example_of(schema: Schema, schemas: Schema, *, is_request: bool) -> Any:
    """Return a value that `schema` allows. A request omits optional properties that would refer to another record."""
    if "$ref" in schema:
        return example_of(schemas[schema["$ref"].rpartition("/")[2]], schemas, is_request=is_request)
    for keyword in ("examples", "enum"):
        if keyword in schema:
            return schema[keyword][0]
    for choices in (schema.get("oneOf"), schema.get("anyOf"), schema.get("allOf")):
        if choices:
            return example_of(choices[0], schemas, is_request=is_request)
    if "default" in schema:
        return schema["default"]
    return _example_of_type(schema, schemas, is_request=is_request)


def _example_of_type(schema: Schema, schemas: Schema, *, is_request: bool) -> Any:
    kind = schema.get("type", "string")
    kind = kind if isinstance(kind, str) else kind[0]
    if kind == "object":
        required = schema.get("required", ())
        shown = {
            name: inner
            for name, inner in schema.get("properties", {}).items()
            if not is_request or name in required or _is_in_request_example(name, inner, schemas)
        }
        return {
            name: None if name in _NULL_PROPERTIES else example_of(inner, schemas, is_request=is_request)
            for name, inner in shown.items()
        }
    if kind == "array":
        return [example_of(schema["items"], schemas, is_request=is_request)] if "items" in schema else []
    if kind in {"integer", "number"}:
        return schema.get("minimum", _BY_TYPE[kind])
    return _BY_FORMAT.get(schema.get("format", ""), _BY_TYPE[kind])


def _is_in_request_example(name: str, described: Schema, schemas: Schema) -> bool:
    """Whether the example of a request has an optional property. Not if it would need the id of another record."""
    entry = schemas.get(described.get("items", {}).get("$ref", "").rpartition("/")[2], {})
    names = [name, *entry.get("required", ())]
    return bool(entry or "examples" in described) and not any(name.endswith(("id", "Id")) for name in names)
