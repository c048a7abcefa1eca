"""The MCP server, called over HTTP by the client of the official SDK."""

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import pytest
import requests
from jsonschema import Draft202012Validator
from mcp import MCPError
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, Tool

from accounts.models import ApiToken, User
from accounts.vocabularies import TokenScope
from contacts_project.mcp import server as server_module
from contacts_project.mcp.server import MAX_LIST_BYTES, MAX_TEXT_LENGTH
from contacts_project.mcp.tools import as_single_types, tools
from people.models import Person
from tests.builders import make_person, make_token
from tests.client import client_of
from tests.contacts_project.server.server_thread import RunningServer, serve_whole_service
from tests.routes.openapi import document

pytestmark = pytest.mark.django_db(transaction=True)
Result = TypeVar("Result")
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}


def run_client(
    server: RunningServer, token: str, say: Callable[[Client], Awaitable[Result]], mode: str = "auto"
) -> Result:
    """Connect a client and return the result of `say(client)`. `mode` is passed to the client."""

    async def run() -> Result:
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False, verify=False) as http:
            transport = streamable_http_client(f"{server.base}/mcp", http_client=http)
            async with Client(transport, mode=mode) as client:
                return await say(client)

    return asyncio.run(run())


def call(server: RunningServer, token: str, tool: str, **arguments: Any) -> Any:
    """Call a tool, which must succeed; returns its decoded result."""
    result = run_client(server, token, lambda client: client.call_tool(tool, arguments))
    assert not result.is_error, result.content
    return read_result(result)


def call_expecting_error(server: RunningServer, token: str, tool: str, **arguments: Any) -> Any:
    """Call a tool, which must fail; returns the decoded error."""
    result = run_client(server, token, lambda client: client.call_tool(tool, arguments))
    assert result.is_error
    return read_result(result)


def read_result(result: CallToolResult) -> Any:
    (content,) = result.content
    assert content.type == "text"
    return json.loads(content.text)


def tools_of(server: RunningServer, token: str, mode: str = "auto") -> dict[str, Tool]:
    listed = run_client(server, token, lambda client: client.list_tools(), mode)
    assert listed.next_cursor is None
    return {tool.name: tool for tool in listed.tools}


def test_tools_match_the_list_in_tools_txt() -> None:
    """A new route goes into tools.txt if it is to be a tool, else into EXCLUDED_OPERATIONS."""
    listed = (Path(__file__).parent / "tools.txt").read_text().split()
    assert sorted(tools()) == listed


def test_long_responses_are_summarized_two_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once: list[int] = []
    under_way: list[None] = []

    def short(*args: Any) -> str:
        under_way.append(None)
        at_once.append(len(under_way))
        time.sleep(0.02)
        under_way.pop()
        return ""

    async def ask_for_many() -> None:
        tool = tools()["listPeople"]
        await asyncio.gather(
            *(server_module.summarize_in_thread(tool, {}, b" " * server_module.LONG_RESPONSE_BYTES) for _ in range(6))
        )

    monkeypatch.setattr(server_module, "summarize", short)
    asyncio.run(ask_for_many())
    assert max(at_once) == server_module.MAX_CONCURRENT_LONG_RESPONSES


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_read_only_token_sees_only_reading_tools(server: RunningServer, alice: User, mode: str) -> None:
    every = tools_of(server, make_token(alice), mode)
    reading = tools_of(server, make_token(alice, TokenScope.READ), mode)
    operations = {o["operationId"]: (m, o) for item in document()["paths"].values() for m, o in item.items()}
    assert {"listPeople", "getPerson", "createPerson", "updatePerson", "deletePerson", "searchPeople"} <= set(every)
    assert set(reading) == {name for name in every if operations[name][0] == "get"}
    for name, tool in every.items():
        method, operation = operations[name]
        assert tool.annotations
        assert tool.annotations.read_only_hint == (method == "get")
        assert tool.description
        assert operation["summary"] in tool.description
        assert tool.input_schema["additionalProperties"] is False
        assert "$ref" not in json.dumps(tool.input_schema)


def test_no_tool_for_sign_in_secrets_uploads_or_streams(server: RunningServer, alice: User) -> None:
    shown = tools_of(server, make_token(alice))
    left_out = {
        "login", "register", "resetPassword", "createApiToken", "changePassword", "deleteAccount", "startTotp",
        "createDestination", "updateDestination", "createCardDavConnection", "setPersonPhoto", "importVCards",
        "getPersonPhoto", "exportVCards", "exportAccount", "streamChanges", "syncCardDav", "getHealth",
    }  # fmt: skip
    assert left_out <= {o["operationId"] for item in document()["paths"].values() for o in item.values()}
    assert not left_out & set(shown)
    arguments = {name for tool in shown.values() for name in tool.input_schema["properties"]}
    assert not {"password", "token", "code", "secret", "If-Match", "Idempotency-Key"} & arguments


def test_tools_write_like_the_routes(server: RunningServer, alice: User) -> None:
    token = make_token(alice)
    made = call(server, token, "createPerson", name="Ada", emails=[{"type": "home", "email": "ada@example.org"}])
    person = made["person"]
    group = call(server, token, "createGroup", name="Engines")["group"]
    call(server, token, "updatePerson", personId=person["id"], surname="Lovelace", groupIds=[group["id"]])
    stored = Person.objects.owned_by(alice).get()
    assert (stored.name, stored.surname) == ("Ada", "Lovelace")
    shown = call(server, token, "getPerson", personId=person["id"])["person"]
    assert [of["name"] for of in shown["groups"]] == ["Engines"]
    assert shown["emails"][0]["email"] == "ada@example.org"
    assert "nickname" not in shown  # null in the route's response
    call(server, token, "deletePerson", personId=person["id"])
    assert not Person.objects.owned_by(alice).active().exists()


def test_errors_equal_those_of_the_routes(server: RunningServer, alice: User, mallory: User) -> None:
    token, of_mallory = make_token(alice), make_token(mallory)
    ada = str(make_person(alice, name="Ada").pk)
    assert call_expecting_error(server, of_mallory, "getPerson", personId=ada)["status"] == 404
    assert call_expecting_error(server, of_mallory, "deletePerson", personId=ada)["status"] == 404
    reader = make_token(alice, TokenScope.READ)
    assert call_expecting_error(server, reader, "deletePerson", personId=ada)["code"] == "read_only_token"
    assert call_expecting_error(server, token, "restorePerson", personId=ada)["code"] == "not_deleted"
    nobody = call_expecting_error(server, token, "createPerson", name=" ")
    assert (nobody["status"], nobody["details"][0]["field"]) == (400, "name")
    assert Person.objects.owned_by(alice).active().count() == 1

    async def sign_in(client: Client) -> None:
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.call_tool("login", {"email": "alice@example.org"})

    run_client(server, token, sign_in)


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("listPeople", {"limmit": 5}, ""),
        ("listPeople", {"limit": "5"}, "limit"),
        ("listPeople", {"limit": 101}, "limit"),
        ("createPerson", {}, ""),
        ("createPerson", {"name": "Ada", "phone": "1"}, ""),
        ("createPerson", {"name": "Ada", "emails": [{"email": "a@example.org", "kind": "home"}]}, "emails.0"),
    ],
)
def test_invalid_arguments_are_refused(
    server: RunningServer, alice: User, tool: str, arguments: Any, field: str
) -> None:
    response = call_expecting_error(server, make_token(alice), tool, **arguments)
    assert (response["status"], response["details"][0]["field"]) == (400, field)
    assert not Person.objects.owned_by(alice).exists()


def test_results_are_pages_of_summaries(server: RunningServer, alice: User) -> None:
    for number in range(30):
        make_person(alice, name=f"P{number:02}", notes="long " * 1000)
        client_of(alice).ok("POST", "/api/groups", {"name": f"G{number:02}"}, status=201)
    token = make_token(alice)
    people = call(server, token, "listPeople")
    assert len(people["people"]) == 20
    assert people["pagination"]["hasMore"] is True
    assert len(people["people"][0]["notes"]) == MAX_TEXT_LENGTH + 1
    rest = call(server, token, "listPeople", limit=20, offset=20)
    assert len(rest["people"]) == 10
    assert not {p["id"] for p in people["people"]} & {p["id"] for p in rest["people"]}
    groups = call(server, token, "listGroups", limit=25, offset=10)
    assert [group["name"] for group in groups["groups"]] == [f"G{number:02}" for number in range(10, 30)]
    assert groups["pagination"] == {"limit": 25, "offset": 10, "total": 30, "hasMore": False}
    first = people["people"][0]["id"]
    assert len(call(server, token, "getPerson", personId=first)["person"]["notes"]) == 5000  # whole


def test_shortened_page_tells_the_next_offset(server: RunningServer, alice: User) -> None:
    for number in range(100):
        make_person(alice, name=f"P{number:02}", notes="long " * 100, organization="o" * 200, job_title="j" * 200)
    token, found, offset, more = make_token(alice), [], 0, True
    while more:
        page = call(server, token, "listPeople", limit=100, offset=offset)
        assert len(json.dumps(page)) < MAX_LIST_BYTES * 1.1
        found += [person["name"] for person in page["people"]]
        offset, more = offset + page["pagination"]["limit"], page["pagination"]["hasMore"]
    assert found == [f"P{number:02}" for number in range(100)]


def test_missing_or_invalid_token_is_401(server: RunningServer, alice: User) -> None:
    ended = make_token(alice)
    ApiToken.unscoped.all().delete()
    for headers in ({}, {"Authorization": "Bearer nonsense"}, {"Authorization": f"Bearer {ended}"}):
        response = requests.post(f"{server.base}/mcp", json=INITIALIZE, headers=headers, timeout=60)
        assert response.status_code == 401
        assert response.headers["WWW-Authenticate"] == "Bearer"
        assert "error" in response.json()


def test_responses_have_the_common_headers_and_limits(server: RunningServer, alice: User) -> None:
    headers = {"Authorization": f"Bearer {make_token(alice)}", "Accept": "application/json, text/event-stream"}
    response = requests.post(f"{server.base}/mcp", json=INITIALIZE, headers=headers, timeout=60)
    assert response.headers["Content-Type"] == "application/json"
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["X-Request-ID"]
    assert requests.get(f"{server.base}/mcp", headers=headers, timeout=60).status_code == 405
    large = requests.post(f"{server.base}/mcp", data=b" " * 300_000, headers=headers, timeout=60)
    assert large.status_code == 413


def test_tool_calls_work_with_one_request_thread(transactional_db: None, alice: User) -> None:
    with serve_whole_service(threads=1) as server:
        assert call(server, make_token(alice), "listPeople")["people"] == []


def test_number_of_reported_errors_is_limited(server: RunningServer, alice: User) -> None:
    token = make_token(alice)
    response = call_expecting_error(server, token, "createPerson", name="Ada", emails=[1] * 10_000)
    assert (response["status"], len(response["details"])) == (400, 20)


@pytest.mark.parametrize(
    ("tool", "person_id"),
    [
        ("getPerson", "search-index"),
        ("getPerson", "duplicates"),
        ("getPerson", ".."),
        ("getPerson", ""),
        ("getPerson", "search?q=a"),
        ("updatePerson", "bulk"),
        ("deletePerson", "{id}/permanent"),
        ("deletePerson", "{id}%2Fpermanent"),
    ],
)
def test_id_cannot_lead_to_another_route(server: RunningServer, alice: User, tool: str, person_id: str) -> None:
    person = make_person(alice, name="Ada")
    response = call_expecting_error(server, make_token(alice), tool, personId=person_id.format(id=person.pk))
    assert (response["status"], response["details"][0]["field"]) == (400, "personId")
    assert Person.objects.owned_by(alice).active().exists()


def test_unknown_id_is_404_as_by_the_route(server: RunningServer, alice: User) -> None:
    token = make_token(alice)
    for key in ("01890000-0000-7000-8000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"):
        assert call_expecting_error(server, token, "getPerson", personId=key)["status"] == 404


def test_whole_floats_are_integers(server: RunningServer, alice: User) -> None:
    """JSON Schema calls 20.0 an integer, and many clients know no other numbers. The routes take integers alone."""
    token = make_token(alice)
    assert call(server, token, "listGroups", limit=20.0, offset=0.0)["pagination"]["limit"] == 20
    assert call(server, token, "listPeople", limit=20.0)["pagination"]["limit"] == 20
    date = {"title": "Nameday", "date": "2020-05-01", "reminderEnabled": True, "reminderLeadDays": 5.0}
    date |= {"extraLeadDays": [9.0], "reminderInterval": 2.0, "reminderIntervalUnit": "YEARS"}
    made = call(server, token, "createPerson", name="Ada", contactReminderInterval=3.0, importantDates=[date])
    person = call(server, token, "getPerson", personId=made["person"]["id"])["person"]
    stored = person["importantDates"][0]
    assert (person["contactReminderInterval"], stored["reminderLeadDays"], stored["extraLeadDays"]) == (3, 5, [9])
    for limit in (1.5, 1e300, True):
        refused = call_expecting_error(server, token, "listPeople", limit=limit)
        assert refused["details"][0]["field"] == "limit"
    template = call(server, token, "createCustomFieldTemplate", name="Height", type="NUMBER")["customFieldTemplate"]
    value = {"templateId": template["id"], "value": 5.0}
    call(server, token, "updatePerson", personId=person["id"], customFieldValues=[value])


def schemas_in(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for name, inner in schema.items():
            if name == "properties":
                for each in inner.values():
                    yield from schemas_in(each)
            elif name not in {"enum", "default"}:
                yield from schemas_in(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from schemas_in(inner)


def test_schemas_have_single_types_and_bounded_integers() -> None:
    for tool in tools().values():
        for schema in schemas_in(tool.schema):
            assert isinstance(schema.get("type", ""), str), (tool.name, schema)
            assert not {"oneOf", "allOf", "$ref", "nullable"} & set(schema), (tool.name, schema)
            if schema.get("type") == "integer":
                assert "minimum" in schema, tool.name
                assert schema.get("maximum", 2**53) < 2**53, tool.name
        for name, where in tool.locations.items():
            if where == "path":
                assert re.fullmatch(tool.schema["properties"][name]["pattern"], "01890000-0000-7000-8000-00000000000a")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": ["string", "null"], "maxLength": 3, "description": "A text."},
        {"type": ["integer", "null"], "minimum": 1, "maximum": 9},
        {"type": ["string", "null"], "enum": ["A", None]},
        {"type": ["string", "number", "boolean", "null"], "maxLength": 2, "minimum": 0},
        {"oneOf": [{"type": "string", "enum": ["A"]}, {"type": "null"}]},
        {"type": ["array", "null"], "items": {"type": ["string", "null"]}, "maxItems": 2},
        {"type": "object", "properties": {"type": {"type": ["string", "null"]}}, "additionalProperties": False},
    ],
    ids=str,
)
def test_single_types_accept_the_same_values(schema: dict[str, Any]) -> None:
    before, after = Draft202012Validator(schema), Draft202012Validator(as_single_types(schema))
    scalars: list[Any] = [None, True, False, 0, 1, -1, 9, 10, 0.5, 5.0, "", "A", "B", "AAAA", {}]
    values = [*scalars, [], *([value] for value in scalars), ["A"] * 3, {"type": None}, {"type": 1}, {"other": 1}]
    assert [before.is_valid(value) for value in values] == [after.is_valid(value) for value in values]
    assert {before.is_valid(value) for value in values} == {True, False}


def test_error_of_an_alternative_says_what_is_wrong(server: RunningServer, alice: User) -> None:
    response = call_expecting_error(server, make_token(alice), "createPerson", name="Ada", surname="x" * 101)
    assert response["details"][0]["field"] == "surname"
    assert "is too long" in response["details"][0]["message"]


def test_origins_of_other_sites_are_refused(server: RunningServer, alice: User, settings: Any) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["https://ours.example"]
    token = make_token(alice)
    for origin, status in (("https://theirs.example", 403), ("https://ours.example", 200)):
        headers = {
            "Authorization": f"Bearer {token}",
            "Origin": origin,
            "Accept": "application/json, text/event-stream",
        }
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        body = {**INITIALIZE, "params": params}
        response = requests.post(f"{server.base}/mcp", json=body, headers=headers, timeout=60)
        assert response.status_code == status, response.text
