"""Style sheets of the client: pages load them when they are opened, so each brings the styles of all its parts."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.npm import WEB

pytestmark = pytest.mark.one_database

SOURCE = (WEB / "src").resolve()
# Always loaded: the sheets of the shell.
SHARED = [sheet for sheet in SOURCE.rglob("*.css") if sheet.parent.name == "styles"]


def test_each_page_imports_the_styles_of_all_its_parts() -> None:
    all_classes = {name for sheet in SOURCE.rglob("*.css") for name in classes_of(sheet)}
    shared = {name for sheet in SHARED for name in classes_of(sheet)}
    pages = [SOURCE / "app/Shell.tsx", *pages_of_routes()]
    assert len(pages) > 20
    missing = {}
    for page in pages:
        files = imported_by(page)
        have = shared.union(*(classes_of(file) for file in files if file.suffix == ".css"))
        used = set().union(*(classes_used(file) for file in files if file.suffix == ".tsx"))
        if without := (used & all_classes) - have:
            missing[page.name] = without
    assert missing == {}


def test_no_class_is_defined_by_two_features() -> None:
    """Sheets stay when another page is opened, so one feature's rule would change the other's."""
    sheets = [sheet for sheet in SOURCE.rglob("*.css") if sheet not in SHARED]
    shared = {name for sheet in SHARED for name in classes_of(sheet)}
    counts = Counter(name for sheet in sheets for name in classes_of(sheet) - shared)
    assert [name for name, count in counts.items() if count > 1] == []


def pages_of_routes() -> list[Path]:
    routes = SOURCE / "app/routes.ts"
    return [(routes.parent / target).resolve() for target in re.findall(r'import\("([^"]+)"\)', routes.read_text())]


def imported_by(start: Path) -> set[Path]:
    """The file and all that it imports, at once or later, but for the other pages of the routes."""
    found, left = set(), [start]
    while left:
        file = left.pop()
        if file in found:
            continue
        found.add(file)
        if file.suffix in {".ts", ".tsx"} and file.name != "routes.ts":
            targets = re.findall(r'(?:from|import)[ (]"(\.[^"]+)"', file.read_text())
            left += [path for target in targets if (path := (file.parent / target).resolve()).exists()]
    return found


@cache
def classes_of(sheet: Path) -> frozenset[str]:
    selectors = re.sub(r"/\*.*?\*/|\{[^{}]*\}", " ", sheet.read_text(), flags=re.DOTALL)
    return frozenset(re.findall(r"\.([a-zA-Z][\w-]*)", selectors))


@cache
def classes_used(file: Path) -> frozenset[str]:
    literals = re.findall(r'class="([^"]+)"|class=\{`([^`]+)`', file.read_text())
    return frozenset(re.sub(r"\$\{[^}]*\}", " ", " ".join(plain + template for plain, template in literals)).split())
