"""Every regular expression of the service takes linear time on hostile text, or its text is short: steps count."""

import ast
import importlib
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.regex_steps import MAX_STEPS, Matcher, hostile_texts

pytestmark = pytest.mark.one_database

ROOT = Path(__file__).parents[2]
APPS = (
    "accounts",
    "carddav",
    "contacts_project",
    "dav",
    "meetings",
    "notifications",
    "people",
    "relationships",
    "sharing",
)
_FUNCTIONS = {"compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"}
_SEARCHES = {"search", "split", "findall", "finditer", "sub", "subn"}
_SIZE = 16
# Four times the text may take this many times the steps: less than the square.
_MAX_GROWTH = 8
# Patterns whose steps grow faster on the texts of this test, and why that ends.
_BOUNDED = {
    "accounts.oidc.app_redirects:_OWN_SCHEME": "matched as a whole only, by way of a list of patterns",
    "people.importing.sources.days:_TIME": "a date has at most 60 characters",
    "people.importing.sources.days:_TRAILING_WEEKDAY": "a date has at most 60 characters",
    "people.vcard.content_lines:_SOFT_BREAKS": "looks at 70 characters from each position",
    "people.vcard.versions:_GEO_PAIR": "looks at 68 characters from each position",
}
# Patterns that are put together while the service runs.
_NOT_IN_SOURCE = {
    "accounts.fields:re.fullmatch(_TIME_OF_DAY, data, re.ASCII)": "two digits, twice",
    r"dav.properties:re.compile(f'[^\\x00-\\x1f]{{1,{MAX_LENGTH}}}')": "one class of characters",
    "people.phone_numbers:re.fullmatch(pattern, prefix)": "the patterns of phonenumbers, on a short prefix",
    'people.projection.search_index:re.compile(f\'"{keys[0]}": ?"([^"]*)"\')': "one class of characters",
}


class Use(NamedTuple):
    """A pattern in the source, where it is, and whether it is searched for rather than matched from a position."""

    place: str
    pattern: re.Pattern[str]
    is_search: bool


def find_patterns() -> Iterator[Use]:
    for app in APPS:
        for path in sorted((ROOT / app).rglob("*.py")):
            if "migrations" not in path.parts:
                yield from _patterns_of(path)


def _patterns_of(path: Path) -> Iterator[Use]:
    source = path.read_text()
    if "re." not in source:
        return
    tree = ast.parse(source)
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in _FUNCTIONS
    ]
    names = {
        node.value: target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    for call in calls:
        variable = names.get(call, "")
        try:
            pattern = _compile(call, name, variable)
        except (ValueError, TypeError, re.error):
            pattern = None
        if pattern is None:
            assert f"{name}:{ast.unparse(call)}" in _NOT_IN_SOURCE, ast.unparse(call)
            continue
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        is_search = method in _SEARCHES
        if method == "compile":
            used = set(re.findall(rf"\b{re.escape(variable)}\.(\w+)", source)) if variable else _SEARCHES
            is_search = bool(used & _SEARCHES) or not used & {"match", "fullmatch"}
        yield Use(f"{name}:{variable or ast.unparse(call)[:60]}", pattern, is_search)


def _compile(call: ast.Call, module: str, variable: str) -> re.Pattern[str] | None:
    """The compiled pattern: of the module's variable, or from literals in the source; None if it depends on more."""
    if variable:
        value = getattr(importlib.import_module(module), variable, None)
        if isinstance(value, re.Pattern):
            source = value.pattern
            if isinstance(source, bytes):
                return re.compile(source.decode("latin-1"), (value.flags & ~re.LOCALE) | re.UNICODE)
            return value
    literal = ast.literal_eval(call.args[0])
    return re.compile(literal.decode("latin-1") if isinstance(literal, bytes) else literal)


def test_patterns_take_linear_time() -> None:
    uses = list(find_patterns())
    assert len(uses) > 150
    grown = {}
    for use in uses:
        factor, text = growth(use)
        if factor > _MAX_GROWTH and use.place not in _BOUNDED:
            grown[use.place] = (round(factor, 1), text)
    assert grown == {}


@pytest.mark.parametrize(
    ("pattern", "is_search", "is_linear"),
    [
        (r"(a+)+b", False, False),
        (r"a*a*b", False, False),
        (r"(?:a|aa)*b", False, False),
        (r"\s*,", True, False),
        (r"\s*,", False, True),
        (r"\s*+,|;", False, True),
        (r"(?:[^'\\]++|\\.)*+'", False, True),
        (r",|;", True, True),
        (r"(?<=;)\s+x", True, True),
    ],
)
def test_growth_is_seen(pattern: str, is_search: bool, is_linear: bool) -> None:
    factor, _ = growth(Use("", re.compile(pattern), is_search))
    assert (factor <= _MAX_GROWTH) == is_linear


def growth(use: Use) -> tuple[float, str]:
    """How many times more steps four times as long a hostile text takes, and the one that grows most."""
    matcher = Matcher(use.pattern)
    worst = (1.0, "")
    for short, long in zip(hostile_texts(matcher, _SIZE), hostile_texts(matcher, 4 * _SIZE), strict=True):
        after = matcher.count(long, is_search=use.is_search)
        if after > MAX_STEPS:
            return math.inf, long[:40]
        before = matcher.count(short, is_search=use.is_search)
        worst = max(worst, (after / max(before, 1), long[:40]))
    return worst
