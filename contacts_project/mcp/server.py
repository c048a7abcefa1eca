"""The server of the official SDK, and the summaries of responses that it sends to assistants.

A new server is made for each message, so that no state of a caller is kept. A summary has one page of each list, no
empty fields, and no long texts.
"""

import asyncio
from functools import cache
from itertools import islice
from typing import Any
from weakref import WeakKeyDictionary

import orjson
from django.conf import settings
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from mcp import MCPError
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.types import INVALID_PARAMS, CallToolResult, ListToolsResult, TextContent, ToolAnnotations
from mcp.types import Tool as ListedTool

from contacts_project.kernel.api.asgi_responses import Ask, Receive, Scope, Send, in_thread
from contacts_project.kernel.fair_semaphore import LIMITS
from contacts_project.kernel.json import Json, JsonMapping, JsonObject, dumps
from contacts_project.mcp.tools import DEFAULT_LIMIT, Tool, tools, with_integers

INSTRUCTIONS = (
    "The contacts of one account: people, groups, relationships and dates. Lists are summaries by pages: go on with"
    " offset while pagination.hasMore is true, and get a single record for all of it. Empty fields are left out. Ids"
    " come from lists and searches. An update changes what it names alone, but replaces a list as a whole."
)

# Summarising a response takes several times its size in memory. Only so many long ones (bytes) are summarised at once.
LONG_RESPONSE_BYTES = 256 * 1024
MAX_CONCURRENT_LONG_RESPONSES = int(LIMITS["long answers to assistants"].total)
_long_responses: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()
_MAX_ERRORS = 20  # reported per call: a client corrects a few at a time, and a body may contain half a million


async def serve(scope: Scope, receive: Receive, send: Send, ask: Ask, *, reads_only: bool) -> None:
    """Answer one message of Streamable HTTP with JSON. Tools send their requests to the service with `ask`."""

    async def list_tools(context: Any, params: Any) -> ListToolsResult:
        listed = await in_thread(_listed_tools)
        # A token of scope READ is shown reading tools only. Calls of others are refused by their routes.
        readable = [tool for tool in listed if tool.annotations and tool.annotations.read_only_hint]
        return ListToolsResult(tools=readable if reads_only else listed)

    async def call_tool(context: Any, params: Any) -> CallToolResult:
        tool = (await in_thread(tools)).get(params.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name}")
        arguments = params.arguments or {}
        if invalid := await in_thread(validation_error, tool, arguments):
            return invalid
        arguments = with_integers(tool.schema, arguments)
        response = await ask(tool.request(arguments))
        if response.status >= 400:
            return _result({"status": response.status, **orjson.loads(response.body)}, is_error=True)
        if response.body[:1] not in {b"{", b"["}:  # a tool whose parameters ask for a file, such as CSV
            return CallToolResult(content=[TextContent(text=response.body.decode())])
        text = await summarize_in_thread(tool, arguments, response.body)
        return CallToolResult(content=[TextContent(text=text)])

    server: Server[Any] = Server(
        "contact-network",
        version=settings.VERSION,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    # The SDK means one manager per process, for its sessions. Without sessions it keeps no state between two messages.
    manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
    async with manager.run():
        await manager.handle_request(scope, receive, send)


async def summarize_in_thread(tool: Tool, arguments: JsonMapping, body: bytes) -> str:
    """The summary of a response, made in a thread, since it would block the event loop."""
    if len(body) < LONG_RESPONSE_BYTES:
        return await in_thread(summarize, tool, arguments, body)
    # One semaphore per event loop: an asyncio semaphore must not be used in several.
    loop, new = asyncio.get_running_loop(), asyncio.Semaphore(MAX_CONCURRENT_LONG_RESPONSES)
    async with _long_responses.setdefault(loop, new):
        return await in_thread(summarize, tool, arguments, body)


@cache
def _listed_tools() -> list[ListedTool]:
    return [
        ListedTool(
            name=tool.name,
            description=tool.description,
            input_schema=tool.schema,
            annotations=ToolAnnotations(
                read_only_hint=tool.reads,
                destructive_hint=None if tool.reads else tool.method == "DELETE",
                idempotent_hint=None if tool.reads else tool.method in {"PUT", "DELETE"},
                open_world_hint=False,
            ),
        )
        for tool in tools().values()
    ]


def validation_error(tool: Tool, arguments: JsonMapping) -> CallToolResult | None:
    """The error for arguments that the tool's schema does not allow, formatted like the API's errors; None if valid."""
    # best_match: an error of `anyOf` says nothing of what is wrong; those of the alternative that comes closest do.
    errors = [best_match([error]) for error in islice(_validator(tool.name).iter_errors(arguments), _MAX_ERRORS)]
    if not errors:
        return None
    details = [
        {
            "field": ".".join(map(str, error.absolute_path)),
            "message": error.message[:300],
            "code": f"schema_{error.validator}".lower(),
        }
        for error in errors
    ]
    body = {"status": 400, "error": "The arguments are not valid.", "code": "invalid", "details": details}
    return _result(body, is_error=True)


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(tools()[name].schema)


def _result(body: JsonMapping, *, is_error: bool) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=dumps(body).decode())], is_error=is_error)


MAX_TEXT_LENGTH = 300  # characters of a text of a record in a list
MAX_LIST_BYTES = 24_000  # of JSON


def summarize(tool: Tool, arguments: JsonMapping, body: bytes) -> str:
    """The summary of a JSON response, as JSON: without nulls and empty lists, with lists in pages and their texts cut.

    If the route has no pagination, or its page is longer than MAX_LIST_BYTES, `pagination` describes what is shown.
    """
    content = orjson.loads(body)
    lists = {name: rows for name, rows in content.items() if isinstance(rows, list)}
    rest = {name: _without_empty(value) for name, value in content.items() if name not in lists}
    if tool.is_paged_here:
        offset, limit = arguments.get("offset", 0), arguments.get("limit", DEFAULT_LIMIT)
        total = max(map(len, lists.values()), default=0)
        rest["pagination"] = {"limit": limit, "offset": offset, "total": total, "hasMore": offset + limit < total}
        lists = {name: rows[offset : offset + limit] for name, rows in lists.items()}
    shown = {name: [_shorten(row) for row in rows] for name, rows in lists.items()}
    if tool.is_paged_here or "pagination" in content:
        _drop_overlong_rows(shown, rest)
    return dumps({**shown, **rest}).decode()


def _drop_overlong_rows(lists: JsonObject, rest: JsonObject) -> None:
    """Cut each list to the rows that fit into MAX_LIST_BYTES, but at least one, and adjust `rest["pagination"]`."""
    for name, rows in lists.items():
        bytes_left = MAX_LIST_BYTES
        for number, row in enumerate(rows):
            bytes_left -= len(dumps(row))
            if bytes_left < 0 and number:
                lists[name] = rows[:number]
                rest["pagination"] |= {"limit": number, "hasMore": True}
                break


def _shorten(value: Json) -> Json:
    """A record of a list, without empty fields and with long texts cut."""
    if isinstance(value, str):
        return value if len(value) <= MAX_TEXT_LENGTH else f"{value[:MAX_TEXT_LENGTH]}…"
    if isinstance(value, dict):
        return {name: _shorten(inner) for name, inner in value.items() if inner not in (None, [], {}, "")}
    return [_shorten(inner) for inner in value] if isinstance(value, list) else value


def _without_empty(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: _without_empty(inner) for name, inner in value.items() if inner not in (None, [], {}, "")}
    return [_without_empty(inner) for inner in value] if isinstance(value, list) else value
