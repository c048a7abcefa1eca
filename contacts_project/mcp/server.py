"""The server of the official SDK. A new one is made for each message, so that no state of a caller is kept."""

import asyncio
from collections.abc import Mapping
from functools import cache
from itertools import islice
from typing import Any
from weakref import WeakKeyDictionary

import orjson
from django.conf import settings
from jsonschema import Draft202012Validator
from mcp import MCPError
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.types import INVALID_PARAMS, CallToolResult, ListToolsResult, TextContent, ToolAnnotations
from mcp.types import Tool as ListedTool

from contacts_project.kernel.api.asgi_responses import Ask, Receive, Scope, Send
from contacts_project.kernel.api.event_streams import in_thread
from contacts_project.kernel.api.json import dumps
from contacts_project.mcp.summaries import summarize
from contacts_project.mcp.tools import Tool, tools

INSTRUCTIONS = (
    "The contacts of one account: people, groups, relationships and dates. Lists are summaries by pages: go on with"
    " offset while pagination.hasMore is true, and get a single record for all of it. Empty fields are left out. Ids"
    " come from lists and searches. An update changes what it names alone, but replaces a list as a whole."
)

# Summarising a response takes several times its size in memory. Only so many long ones (bytes) are summarised at once.
LONG_RESPONSE_BYTES, MAX_CONCURRENT_LONG_RESPONSES = 256 * 1024, 2
_long_response_slots: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()
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
        response = await ask(tool.request(arguments))
        if response.status >= 400:
            return _result({"status": response.status, **orjson.loads(response.body)}, is_error=True)
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


async def summarize_in_thread(tool: Tool, arguments: Mapping[str, Any], body: bytes) -> str:
    """The summary of a response, made in a thread, since it would block the event loop."""
    if len(body) < LONG_RESPONSE_BYTES:
        return await in_thread(summarize, tool, arguments, body)
    # One semaphore per event loop: an asyncio semaphore must not be used in several.
    loop, new = asyncio.get_running_loop(), asyncio.Semaphore(MAX_CONCURRENT_LONG_RESPONSES)
    async with _long_response_slots.setdefault(loop, new):
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


def validation_error(tool: Tool, arguments: Mapping[str, Any]) -> CallToolResult | None:
    """The error for arguments that the tool's schema does not allow, formatted like the API's errors; None if valid."""
    errors = list(islice(_validator(tool.name).iter_errors(arguments), _MAX_ERRORS))
    if not errors:
        return None
    details = [{"field": ".".join(map(str, error.absolute_path)), "message": error.message[:300]} for error in errors]
    return _result({"status": 400, "error": "The arguments are not valid.", "details": details}, is_error=True)


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(tools()[name].schema)


def _result(body: Mapping[str, Any], *, is_error: bool) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=dumps(body).decode())], is_error=is_error)
