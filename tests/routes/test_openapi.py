"""The API description: complete, and precise enough to generate clients from it."""

import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import jsonschema_rs
import pytest
from django.http import HttpRequest
from drf_spectacular.drainage import GENERATOR_STATS
from openapi_spec_validator import validate
from rest_framework.request import Request

from contacts_project.kernel.ids import new_id
from contacts_project.operation import views
from notifications.notices.notice import NoticeKind
from tests.routes.openapi import check_value, document, operations
from tests.routes.test_client_ids import OF_VERSION_1, OF_VERSION_4, PATHS

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_suffices]

Schema = dict[str, Any]


def schemas() -> dict[str, Schema]:
    found: dict[str, Schema] = document()["components"]["schemas"]
    return found


def test_description_is_valid_openapi_3_1_without_warnings() -> None:
    assert document()["openapi"].startswith("3.1")
    assert not GENERATOR_STATS
    validate(document())


def test_every_operation_has_a_name_a_summary_and_a_domain() -> None:
    domains = {tag["name"] for tag in document()["tags"] if tag["description"]}
    for operation in operations().values():
        assert re.fullmatch("[a-z]+([A-Z][A-Za-z]*)?", operation["operationId"])
        assert 0 < len(operation["summary"]) <= 100, operation["summary"]
        assert set(operation["tags"]) <= domains
    ids = [operation["operationId"] for operation in operations().values()]
    assert len(ids) == len(set(ids))


def test_every_example_is_allowed_by_its_schema() -> None:
    shown = list(examples(document()))
    assert len(shown) > 500
    for schema, value in shown:
        check_value(schema, value)


def examples(described: Any) -> Iterator[tuple[Schema, Any]]:
    """Every example of the description, with the schema that it is of."""
    if isinstance(described, list):
        described = dict(enumerate(described))
    if not isinstance(described, dict):
        return
    if "schema" in described and "example" in described:
        yield described["schema"], described["example"]
    for value in described.get("examples", ()):
        yield {key: inner for key, inner in described.items() if key != "examples"}, value
    for inner in described.values():
        yield from examples(inner)


def test_query_parameters_have_the_limits_of_the_code() -> None:
    found = {
        (operation["operationId"], parameter["name"]): parameter["schema"]
        for operation in operations().values()
        for parameter in operation.get("parameters", ())
        if parameter["schema"].get("type") == "integer" or parameter["name"] == "q"
    }
    assert all("minimum" in schema for (_, name), schema in found.items() if name != "q")
    assert found["listUpcoming", "days"] == {"type": "integer", "minimum": 1, "maximum": 366, "default": 30}
    assert found["searchPeople", "q"]["pattern"] == r"\S"


def test_body_schemas_allow_exactly_what_is_accepted() -> None:
    assert schemas()["PhoneNumberRequest"]["properties"]["id"]["type"] == ["string", "null"]
    assert schemas()["ImportantDateEntryRequest"]["properties"]["id"]["type"] == ["string", "null"]
    assert schemas()["LoginRequest"]["properties"]["code"]["minLength"] == 1
    assert schemas()["DeletionRequest"]["properties"]["confirmationText"]["const"] == "DELETE"
    dismissed = operations()["PUT", "/api/custom-field-templates/reorder"]["requestBody"]["content"]["application/json"]
    ids = schemas()[dismissed["schema"]["$ref"].rpartition("/")[2]]["properties"]["ids"]
    assert (ids["minItems"], ids["maxItems"]) == (1, 20_000)
    operations_of_a_batch = schemas()["BatchRequest"]["properties"]["operations"]
    assert (operations_of_a_batch["minItems"], operations_of_a_batch["maxItems"]) == (1, 100)
    assert schemas()["CalendarFeedBodyRequest"]["properties"]["kinds"]["minItems"] == 1


@pytest.mark.parametrize("path", PATHS)
def test_schema_of_client_ids_matches_what_is_accepted(path: str) -> None:
    body = operations()["POST", path]["requestBody"]["content"]["application/json"]["schema"]
    described = schemas()[body["$ref"].rpartition("/")[2]]["properties"]["id"]
    for key in (OF_VERSION_4, OF_VERSION_4.upper(), str(new_id())):
        check_value(described, key)
    for key in (OF_VERSION_1, OF_VERSION_4.replace("-", ""), str(UUID(int=0))):
        with pytest.raises(jsonschema_rs.ValidationError):
            check_value(described, key)


@pytest.mark.parametrize("body", ["CreateDestinationRequest", "UpdateDestinationRequest"])
def test_schema_of_ntfy_tokens_matches_what_is_accepted(body: str) -> None:
    described = schemas()[body]["properties"]["token"]
    for taken in ("tk_1", " tk_1\n", None):
        check_value(described, taken)
    for refused in ("", "a b", "schlüssel", "x" * 256):
        with pytest.raises(jsonschema_rs.ValidationError):
            check_value(described, refused)


def test_deletions_with_a_body_describe_it() -> None:
    for path in ("/api/people/{}", "/api/user/delete"):
        assert "requestBody" in operations()["DELETE", path]
    assert "requestBody" not in operations()["DELETE", "/api/groups/{}"]


def test_emails_have_an_example() -> None:
    emails = [schema["properties"]["email"] for schema in schemas().values() if "email" in schema.get("properties", ())]
    named = [email for email in emails if email.get("type") == "string"]
    assert named
    assert all(email.get("examples") for email in named)


def test_fields_that_are_always_present_are_required() -> None:
    for name in ("Person", "ImportantDate", "Relationship", "User", "Group", "Destination"):
        assert set(schemas()[name]["required"]) == set(schemas()[name]["properties"]), name
    listed = schemas()["PersonListed"]
    assert set(schemas()["PersonFound"]["properties"]) - set(listed["required"]) == {
        *("phoneNumbers", "emails", "addresses", "urls", "imHandles", "locations", "customFields", "more"),
    }
    assert "pagination" not in schemas()["PeopleAnswer"]["required"]


def test_every_field_has_a_type() -> None:
    """The only exception is the export document of a whole account."""
    untyped = [
        name for name, schema in schemas().items() if schema.get("type") == "object" and "properties" not in schema
    ]
    assert untyped == []
    open_schemas = [
        operation["operationId"]
        for operation in operations().values()
        for response in operation["responses"].values()
        for media in response.get("content", {}).values()
        if "additionalProperties" in media["schema"]
    ]
    assert open_schemas == ["exportAccount"]
    relationships = schemas()["Person"]["properties"]["relationships"]
    assert relationships["items"] == {"$ref": "#/components/schemas/Relationship"}
    assert len(schemas()["DeletedAnswer"]["anyOf"]) == 7
    assert schemas()["FieldOverridesRequest"]["properties"]["nickname"]["type"] == ["string", "null"]


def test_every_error_has_its_own_type_and_codes() -> None:
    responses = document()["components"]["responses"]
    for operation in operations().values():
        refusals = {status: response for status, response in operation["responses"].items() if status >= "400"}
        if operation["operationId"] == "getHealth":
            continue
        assert refusals["503"] == {"$ref": "#/components/responses/UnavailableError"}
        for status, response in refusals.items():
            described = (
                responses[response["$ref"].rpartition("/")[2]] if "$ref" in response else response
            )  # with a page, too
            assert ("Retry-After" in described["headers"]) == (status in {"429", "503"})
    creation = operations()["POST", "/api/people"]["responses"]["403"]["$ref"].rpartition("/")[2]
    assert set(schemas()[creation]["properties"]["code"]["enum"]) == {"csrf", "plan_limit", "read_only_token"}


def test_conditional_reads_describe_304() -> None:
    conditional = {operation["operationId"] for operation in operations().values() if "304" in operation["responses"]}
    assert conditional >= {
        *("listPeople", "getPerson", "getSearchIndex", "listRelationships", "listGroups", "exportAccount"),
        "getPersonPhoto",
    }
    for (method, _), operation in operations().items():
        headers = {parameter["name"] for parameter in operation.get("parameters", ())}
        assert ("If-None-Match" in headers) == (operation["operationId"] in conditional)
        if method == "GET":
            assert ("ETag" in operation["responses"].get("200", {}).get("headers", {})) == ("If-None-Match" in headers)


def test_writes_of_records_describe_if_match_and_412() -> None:
    conditional = {name: operation for name, operation in operations().items() if "412" in operation["responses"]}
    names = {operation["operationId"] for operation in conditional.values()}
    assert names >= {"updatePerson", "deleteGroup", "restoreImportantDate", "setPersonPhoto", "addGroupMember"}
    assert names >= {"setTheme", "updateProfile", "removeRelationship", "updateDestination"}
    for (method, _), operation in operations().items():
        headers = {parameter["name"] for parameter in operation.get("parameters", ())}
        assert ("If-Match" in headers) == (operation in conditional.values()), operation["operationId"]
        assert method != "GET" or "412" not in operation["responses"]
    stale = schemas()["StalePersonError"]
    assert (stale["properties"]["current"], stale["properties"]["code"]["enum"]) == (
        {"$ref": "#/components/schemas/Person"},
        ["stale"],
    )


def test_authentication_schemes() -> None:
    assert operations()["GET", "/api/people"]["security"] == [{"apiToken": []}, {"session": []}]
    assert operations()["POST", "/api/people"]["security"] == [{"apiToken": []}, {"session": [], "csrf": []}]
    assert operations()["POST", "/api/user/api-tokens"]["security"] == [{"session": [], "csrf": []}]
    assert "security" not in operations()["POST", "/api/auth/login"]


def test_webhooks_are_described_with_their_signature() -> None:
    assert set(document()["webhooks"]) == set(NoticeKind.values)
    for kind, webhook in document()["webhooks"].items():
        headers = {parameter["name"] for parameter in webhook["post"]["parameters"]}
        assert headers == {"webhook-id", "webhook-timestamp", "webhook-signature"}
        schema = webhook["post"]["requestBody"]["content"]["application/json"]["schema"]
        assert schemas()[schema["$ref"].rpartition("/")[2]]["properties"]["type"], kind


def test_concurrent_first_requests_build_the_description_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """drf-spectacular is not thread-safe: without a lock, a new process answered 500 to all but one of these."""
    built = []

    def generator() -> Any:
        built.append(1)
        time.sleep(0.05)
        return SimpleNamespace(get_schema=lambda **_: {})

    monkeypatch.setattr(views, "SchemaGenerator", generator)
    monkeypatch.setattr(views, "_description", cache(views._description.__wrapped__))
    request = Request(HttpRequest())
    with ThreadPoolExecutor(4) as pool:
        responses = list(pool.map(lambda _: views.OpenAPIViewSet().list(request).content, range(4)))
    assert (responses, built) == ([b"{}"] * 4, [1])
