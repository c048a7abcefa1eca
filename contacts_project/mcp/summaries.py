"""Answers as an assistant reads them: a page of each list, and of its records only what they say."""

from collections.abc import Mapping
from typing import Any

import orjson

from contacts_project.kernel.api.json import dumps
from contacts_project.mcp.tools import SHOWN, Tool

MOST_TEXT = 300  # of a record in a list
MOST_CHARACTERS = 24_000


def summary(tool: Tool, arguments: Mapping[str, Any], body: bytes) -> str:
    """The JSON of an answer in short: nulls and empty lists left out, long texts of lists cut, lists by pages.

    Where the route has no pages, or the page would be longer than MOST_CHARACTERS, `pagination` says what is shown.
    """
    answer = orjson.loads(body)
    lists = {name: rows for name, rows in answer.items() if isinstance(rows, list)}
    rest = {name: _without_empty(value) for name, value in answer.items() if name not in lists}
    if tool.is_cut:
        # JSON Schema's integers may be spelled 20.0.
        lists = _page(lists, rest, int(arguments.get("offset", 0)), int(arguments.get("limit", SHOWN)))
    shown = {name: [_short(row) for row in rows] for name, rows in lists.items()}
    if tool.is_cut or "pagination" in answer:
        shown = _fitted(shown, rest)
    return dumps({**shown, **rest}).decode()


def _page(lists: dict[str, Any], rest: dict[str, Any], offset: int, limit: int) -> dict[str, Any]:
    """A page of lists that the route gave whole; `rest` is told which."""
    total = max(map(len, lists.values()), default=0)
    rest["pagination"] = {"limit": limit, "offset": offset, "total": total, "hasMore": offset + limit < total}
    return {name: rows[offset : offset + limit] for name, rows in lists.items()}


def _fitted(lists: dict[str, Any], rest: dict[str, Any]) -> dict[str, Any]:
    """As many rows of each list as there is room for, one at least; `rest["pagination"]` is told so."""
    for name, rows in lists.items():
        room = MOST_CHARACTERS
        for number, row in enumerate(rows):
            room -= len(dumps(row))
            if room < 0 and number:
                lists[name] = rows[:number]
                rest["pagination"] |= {"limit": number, "hasMore": True}
                break
    return lists


def _short(value: Any) -> Any:
    """A record of a list."""
    if isinstance(value, str):
        return value if len(value) <= MOST_TEXT else f"{value[:MOST_TEXT]}…"
    if isinstance(value, dict):
        return {name: _short(inner) for name, inner in value.items() if inner not in (None, [], {}, "")}
    return [_short(inner) for inner in value] if isinstance(value, list) else value


def _without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_empty(inner) for name, inner in value.items() if inner not in (None, [], {}, "")}
    return [_without_empty(inner) for inner in value] if isinstance(value, list) else value
