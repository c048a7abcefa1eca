"""The official SDK's server, one for each message: nothing of a caller stays in the process."""

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
from contacts_project.mcp.summaries import summary
from contacts_project.mcp.tools import Tool, tools

INSTRUCTIONS = (
    "The contacts of one account: people, groups, relationships and dates. Lists are summaries by pages: go on with"
    " offset while pagination.hasMore is true, and get a single record for all of it. Empty fields are left out. Ids"
    " come from lists and searches. An update changes what it names alone, but replaces a list as a whole."
)


# To shorten an answer takes several times its memory: no more of long ones (bytes) at a time than of large requests.
LONG, MOST_LONG = 256 * 1024, 2
_long_answers: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()
_MOST_TOLD = 20  # faults of one call: a client mends a few at a time, and a body may have half a million


async def serve(scope: Scope, receive: Receive, send: Send, ask: Ask, *, reads_only: bool) -> None:
    """Answer one message of Streamable HTTP as JSON; tools ask the service by `ask`."""

    async def list_tools(context: Any, params: Any) -> ListToolsResult:
        known = await in_thread(_listed)
        return ListToolsResult(tools=[tool for tool in known if is_shown(tool)])

    def is_shown(tool: ListedTool) -> bool:
        return not reads_only or bool(tool.annotations and tool.annotations.read_only_hint)

    async def call_tool(context: Any, params: Any) -> CallToolResult:
        tool = (await in_thread(tools)).get(params.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name}")
        arguments = params.arguments or {}
        if refused := await in_thread(refusal, tool, arguments):
            return refused
        answer = await ask(tool.request(arguments))
        if answer.status >= 400:
            return _result({"status": answer.status, **orjson.loads(answer.body)}, is_error=True)
        text = await shortened(tool, arguments, answer.body)
        return CallToolResult(content=[TextContent(text=text)])

    server: Server[Any] = Server(
        "contact-network",
        version=settings.VERSION,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    # A manager is meant for a process and its sessions. Without sessions it keeps nothing between two messages.
    manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
    async with manager.run():
        await manager.handle_request(scope, receive, send)


async def shortened(tool: Tool, arguments: Mapping[str, Any], body: bytes) -> str:
    """The summary, made in a thread; of long answers two at a time."""
    if len(body) < LONG:
        return await in_thread(summary, tool, arguments, body)
    async with _long_answers.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(MOST_LONG)):
        return await in_thread(summary, tool, arguments, body)


@cache
def _listed() -> list[ListedTool]:
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


def refusal(tool: Tool, arguments: Mapping[str, Any]) -> CallToolResult | None:
    """What arguments are refused with that the schema does not allow, in the shape of all refusals; else None."""
    found = list(islice(_validator(tool.name).iter_errors(arguments), _MOST_TOLD))
    if not found:
        return None
    details = [{"field": ".".join(map(str, error.absolute_path)), "message": error.message[:300]} for error in found]
    return _result({"status": 400, "error": "The arguments are not valid.", "details": details}, is_error=True)


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(tools()[name].schema)


def _result(body: Mapping[str, Any], *, is_error: bool) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=dumps(body).decode())], is_error=is_error)
