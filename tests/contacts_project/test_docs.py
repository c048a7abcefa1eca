"""Files, dotted names, identifiers, routes and commands that the docs name in backticks exist."""

import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import pytest
from django.core.management import get_commands
from django.urls import Resolver404, resolve

from tests import ROOT

PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
APPS = [
    "accounts",
    "carddav",
    "contacts_project",
    "dav",
    "meetings",
    "notifications",
    "people",
    "relationships",
    "sharing",
    "tests",
]
FOLDERS = [*APPS, "clients", "deploy", "docs", "locale", "requirements", "templates"]
GENERATED = {"__pycache__", "dist", "node_modules", "personFields.ts", "routes", "schema.ts", "searchedFields.ts"}

#: Names that are created while the service runs, are generated, or belong to planned parts of the contract.
NOT_IN_THE_TREE = {
    "DATA_DIR/keys.json",
    "DATA_DIR/vapid.json",
    "clients/typescript/src/personFields.ts",
    "ForbiddenCsrfPlanLimitReadOnlyTokenError",
    "keys.json",
    "vapid.json",
    "people_lookupkey",
}


def names_in_backticks(page: Path) -> set[str]:
    """The texts in backticks, without fenced blocks."""
    text = re.sub(r"^ *```.*?^ *```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    return set(re.findall(r"`([^`\n]+)`", text)) - NOT_IN_THE_TREE


@cache
def files() -> list[Path]:
    found = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.*")]
    return [path for path in found if not GENERATED & set(path.parts)]


def words_of(paths: Iterable[Path]) -> set[str]:
    texts = [path.read_text() for path in paths if path.suffix in {".html", ".py", ".toml", ".ts", ".tsx"}]
    return set(re.findall(r"\w+", "\n".join(texts)))


@cache
def all_words() -> set[str]:
    """Every word of the code and its templates."""
    return words_of(files())


def is_route(path: str) -> bool:
    try:
        resolve(re.sub(r"\{\w+\}", "x", re.split(r"[?&]", path)[0]))
    except Resolver404:
        return False
    return True


def is_command(name: str) -> bool:
    return name in get_commands()


def is_target(name: str) -> bool:
    return f"\n{name}:" in (ROOT / "Makefile").read_text()


def is_file(name: str) -> bool:
    pattern = re.sub(r"<\w+>", "*", name)
    return any(ROOT.glob(pattern)) or any(path.match(pattern) for path in files())


def is_name(dotted: str) -> bool:
    """Whether the module of a dotted name is there, and every other part a word of it; else all are words of ours."""
    parts = dotted.split(".")
    if parts[0] not in APPS:
        return set(parts) <= all_words()
    place = ROOT
    while parts and (place / parts[0]).is_dir():
        place /= parts.pop(0)
    module = (place / parts[0]).with_suffix(".py") if parts else place
    known = words_of([module] if module.is_file() else place.rglob("*.py"))
    return set(parts[1:] if module.is_file() else parts) <= known


KINDS: list[tuple[str, Callable[[str], bool]]] = [
    (r"(?:GET|POST|PUT|DELETE) (/api/[^ .]*)", is_route),
    (r"(?:\S*python )?manage\.py (\w+).*", is_command),
    (r"make (\w+).*", is_target),
    (rf"((?:{'|'.join(FOLDERS)})/[\w./<>*-]*[\w*])/?", is_file),
    (r"([\w<>*.-]+\.(?:css|html|json|md|mjs|py|toml|ts|txt|yml))", is_file),
    (r"@?([A-Za-z_]\w*(?:\.\w+)*)(?:\(.*\))?", is_name),
]


def exists(name: str) -> bool:
    """Whether the thing exists, as far as the name can be told to be one of ours."""
    for pattern, check in KINDS:
        if found := re.fullmatch(pattern, name, re.ASCII):
            return check(found[1])
    return True


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_names_in_backticks_exist(page: Path) -> None:
    assert sorted(name for name in names_in_backticks(page) if not exists(name)) == []
