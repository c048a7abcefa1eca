"""Summaries of responses for assistants: one page of each list, without empty fields and with long texts cut."""

from collections.abc import Mapping
from typing import Any

import orjson

from contacts_project.kernel.api.json import dumps
from contacts_project.mcp.tools import DEFAULT_LIMIT, Tool

MAX_TEXT_LENGTH = 300  # characters of a text of a record in a list
MAX_LIST_BYTES = 24_000  # of JSON


def summarize(tool: Tool, arguments: Mapping[str, Any], body: bytes) -> str:
    """The summary of a JSON response, as JSON: without nulls and empty lists, with lists in pages and their texts cut.

    If the route has no pagination, or its page is longer than MAX_LIST_BYTES, `pagination` describes what is shown.
    """
    content = orjson.loads(body)
    lists = {name: rows for name, rows in content.items() if isinstance(rows, list)}
    rest = {name: _without_empty(value) for name, value in content.items() if name not in lists}
    if tool.is_paged_here:
        # int(), because an integer of JSON Schema may be written 20.0.
        offset, limit = int(arguments.get("offset", 0)), int(arguments.get("limit", DEFAULT_LIMIT))
        total = max(map(len, lists.values()), default=0)
        rest["pagination"] = {"limit": limit, "offset": offset, "total": total, "hasMore": offset + limit < total}
        lists = {name: rows[offset : offset + limit] for name, rows in lists.items()}
    shown = {name: [_shorten(row) for row in rows] for name, rows in lists.items()}
    if tool.is_paged_here or "pagination" in content:
        _drop_overlong_rows(shown, rest)
    return dumps({**shown, **rest}).decode()


def _drop_overlong_rows(lists: dict[str, Any], rest: dict[str, Any]) -> None:
    """Cut each list to the rows that fit into MAX_LIST_BYTES, but at least one, and adjust `rest["pagination"]`."""
    for name, rows in lists.items():
        bytes_left = MAX_LIST_BYTES
        for number, row in enumerate(rows):
            bytes_left -= len(dumps(row))
            if bytes_left < 0 and number:
                lists[name] = rows[:number]
                rest["pagination"] |= {"limit": number, "hasMore": True}
                break


def _shorten(value: Any) -> Any:
    """A record of a list, without empty fields and with long texts cut."""
    if isinstance(value, str):
        return value if len(value) <= MAX_TEXT_LENGTH else f"{value[:MAX_TEXT_LENGTH]}…"
    if isinstance(value, dict):
        return {name: _shorten(inner) for name, inner in value.items() if inner not in (None, [], {}, "")}
    return [_shorten(inner) for inner in value] if isinstance(value, list) else value


def _without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_empty(inner) for name, inner in value.items() if inner not in (None, [], {}, "")}
    return [_without_empty(inner) for inner in value] if isinstance(value, list) else value
