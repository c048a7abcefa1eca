"""The MCP server, asked by the SDK's own client over HTTP, on both databases."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import pytest
import requests
from mcp import MCPError
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, Tool

from accounts.models import ApiToken, User
from accounts.vocabularies import TokenScope
from contacts_project.mcp import server as server_module
from contacts_project.mcp.summaries import MAX_LIST_BYTES, MAX_TEXT_LENGTH
from contacts_project.mcp.tools import tools
from people.models import Person
from tests.builders import make_person, make_token
from tests.client import client_of
from tests.contacts_project.server.server_thread import Running, serving_everything
from tests.routes.openapi import document

pytestmark = pytest.mark.django_db(transaction=True)
Result = TypeVar("Result")
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}


@pytest.fixture
def server(transactional_db: None) -> Iterator[Running]:
    with serving_everything() as served:
        yield served


def talk(server: Running, token: str, say: Callable[[Client], Awaitable[Result]], mode: str = "auto") -> Result:
    """What `say` finds out by a client of the protocol."""

    async def run() -> Result:
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False, verify=False) as http:
            transport = streamable_http_client(f"{server.base}/mcp", http_client=http)
            async with Client(transport, mode=mode) as client:
                return await say(client)

    return asyncio.run(run())


def call(server: Running, token: str, tool: str, **arguments: Any) -> Any:
    """The answer of a tool that succeeds."""
    result = talk(server, token, lambda client: client.call_tool(tool, arguments))
    assert not result.is_error, result.content
    return read(result)


def refused(server: Running, token: str, tool: str, **arguments: Any) -> Any:
    """The answer of a tool that fails."""
    result = talk(server, token, lambda client: client.call_tool(tool, arguments))
    assert result.is_error
    return read(result)


def read(result: CallToolResult) -> Any:
    (content,) = result.content
    assert content.type == "text"
    return json.loads(content.text)


def tools_of(server: Running, token: str, mode: str = "auto") -> dict[str, Tool]:
    listed = talk(server, token, lambda client: client.list_tools(), mode)
    assert listed.next_cursor is None
    return {tool.name: tool for tool in listed.tools}


def test_the_tools_are_those_of_the_list() -> None:
    """Whoever adds a route decides whether it is a tool: its name goes into tools.txt or EXCLUDED_OPERATIONS."""
    listed = (Path(__file__).parent / "tools.txt").read_text().split()
    assert sorted(tools()) == listed


def test_long_answers_are_shortened_two_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
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
            *(server_module.summarize_in_thread(tool, {}, b" " * server_module.LONG_ANSWER_BYTES) for _ in range(6))
        )

    monkeypatch.setattr(server_module, "summarize", short)
    asyncio.run(ask_for_many())
    assert max(at_once) == server_module.MAX_CONCURRENT_LONG_ANSWERS


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_read_token_sees_the_tools_that_read_and_no_other(server: Running, alice: User, mode: str) -> None:
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


def test_no_tool_signs_in_shows_a_secret_uploads_or_streams(server: Running, alice: User) -> None:
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


def test_tools_write_what_the_routes_write(server: Running, alice: User) -> None:
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
    assert "nickname" not in shown  # null in the answer of the route
    call(server, token, "deletePerson", personId=person["id"])
    assert not Person.objects.owned_by(alice).active().exists()


def test_refusals_are_those_of_the_routes(server: Running, alice: User, mallory: User) -> None:
    token, of_mallory = make_token(alice), make_token(mallory)
    ada = str(make_person(alice, name="Ada").pk)
    assert refused(server, of_mallory, "getPerson", personId=ada)["status"] == 404
    assert refused(server, of_mallory, "deletePerson", personId=ada)["status"] == 404
    reader = make_token(alice, TokenScope.READ)
    assert refused(server, reader, "deletePerson", personId=ada)["code"] == "read_only_token"
    assert refused(server, token, "restorePerson", personId=ada)["code"] == "not_deleted"
    nobody = refused(server, token, "createPerson", name=" ")
    assert (nobody["status"], nobody["details"][0]["field"]) == (400, "name")
    assert Person.objects.owned_by(alice).active().count() == 1

    async def sign_in(client: Client) -> None:
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.call_tool("login", {"email": "alice@example.org"})

    talk(server, token, sign_in)


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
def test_arguments_are_strict(server: Running, alice: User, tool: str, arguments: Any, field: str) -> None:
    answer = refused(server, make_token(alice), tool, **arguments)
    assert (answer["status"], answer["details"][0]["field"]) == (400, field)
    assert not Person.objects.owned_by(alice).exists()


def test_answers_are_pages_of_summaries(server: Running, alice: User) -> None:
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


def test_a_page_that_is_too_long_says_where_to_go_on(server: Running, alice: User) -> None:
    for number in range(100):
        make_person(alice, name=f"P{number:02}", notes="long " * 100, organization="o" * 200, job_title="j" * 200)
    token, found, offset, more = make_token(alice), [], 0, True
    while more:
        page = call(server, token, "listPeople", limit=100, offset=offset)
        assert len(json.dumps(page)) < MAX_LIST_BYTES * 1.1
        found += [person["name"] for person in page["people"]]
        offset, more = offset + page["pagination"]["limit"], page["pagination"]["hasMore"]
    assert found == [f"P{number:02}" for number in range(100)]


def test_who_has_no_token_gets_401(server: Running, alice: User) -> None:
    ended = make_token(alice)
    ApiToken.unscoped.all().delete()
    for headers in ({}, {"Authorization": "Bearer nonsense"}, {"Authorization": f"Bearer {ended}"}):
        answer = requests.post(f"{server.base}/mcp", json=INITIALIZE, headers=headers, timeout=60)
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert "error" in answer.json()


def test_the_head_of_an_answer_is_that_of_every_route(server: Running, alice: User) -> None:
    headers = {"Authorization": f"Bearer {make_token(alice)}", "Accept": "application/json, text/event-stream"}
    answer = requests.post(f"{server.base}/mcp", json=INITIALIZE, headers=headers, timeout=60)
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["X-Request-ID"]
    assert requests.get(f"{server.base}/mcp", headers=headers, timeout=60).status_code == 405
    large = requests.post(f"{server.base}/mcp", data=b" " * 300_000, headers=headers, timeout=60)
    assert large.status_code == 413


def test_waiting_for_a_tool_holds_no_thread_of_its_own(transactional_db: None, alice: User) -> None:
    with serving_everything(threads=1) as server:
        assert call(server, make_token(alice), "listPeople")["people"] == []


def test_a_call_is_told_few_of_its_faults(server: Running, alice: User) -> None:
    token = make_token(alice)
    answer = refused(server, token, "createPerson", name="Ada", emails=[1] * 10_000)
    assert (answer["status"], len(answer["details"])) == (400, 20)


def test_an_id_names_no_other_route(server: Running, alice: User) -> None:
    token = make_token(alice)
    person = make_person(alice, name="Ada")
    answer = refused(server, token, "deletePerson", personId=f"{person.pk}/permanent")
    assert (answer["status"], answer["details"][0]["field"]) == (400, "personId")


def test_a_page_is_a_whole_number_however_it_is_spelled(server: Running, alice: User) -> None:
    token = make_token(alice)
    assert call(server, token, "listGroups", limit=20.0, offset=0.0)["pagination"]["limit"] == 20


def test_pages_of_other_sites_are_refused(server: Running, alice: User, settings: Any) -> None:
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
        answer = requests.post(f"{server.base}/mcp", json=body, headers=headers, timeout=60)
        assert answer.status_code == status, answer.text
