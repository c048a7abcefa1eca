"""The built files of the client are those that its source gives, and small."""

import re
from pathlib import Path
from typing import Any

from tests.client import Client
from tests.clients.generator import generate_typescript
from tests.npm import WEB, check_types
from tests.web.bundle import BUILT, build

# What a browser loads before it shows the list of people.
FIRST_LOAD_BYTES = 80_000


def files(folder: Path) -> dict[str, bytes]:
    """The files of a build by name."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_built_files_are_current(tmp_path: Path) -> None:
    """If this fails: `make web`, and commit what it has written."""
    build(tmp_path)
    built, committed = files(tmp_path), files(BUILT)
    assert sorted(built) == sorted(committed)
    assert [name for name in built if built[name] != committed[name]] == []


def test_service_worker_keeps_files_that_exist() -> None:
    """One that does not exist would end the worker's installation: no client without a network, no push."""
    kept = set(re.findall(r'"/static/app/([^"]+)"', (BUILT / "sw.js").read_text()))
    assert kept == {name for name in files(BUILT) if name.startswith("assets/")}


def test_types_of_the_client_are_right() -> None:
    generate_typescript()
    assert check_types(WEB) == check_types(WEB, "src/sw") == ""


def sent_size(url: str) -> int:
    """The bytes that the service sends a browser without zstd."""
    response: Any = Client().get(url, HTTP_ACCEPT_ENCODING="gzip, deflate, br")
    return len(response.getvalue())


def loaded_by(name: str, seen: dict[str, int]) -> None:
    """Add the compressed size of the file and of all that it imports statically."""
    if name in seen:
        return
    seen[name] = sent_size(f"/static/app/assets/{name}")
    text = (BUILT / "assets" / name).read_text()
    for imported in re.findall(r'(?:from|import)\s?"\./([\w.-]+\.js)"', text):
        loaded_by(imported, seen)


def test_first_load_is_small() -> None:
    seen = {"index.html": sent_size("/app/")}
    for name in re.findall(r'/static/app/assets/([\w.-]+\.(?:js|css))"', (BUILT / "index.html").read_text()):
        loaded_by(name, seen)
    languages = [sent_size(f"/static/app/assets/{path.name}") for path in (BUILT / "assets").glob("first-texts-*.js")]
    assert len(languages) == 5
    assert sum(seen.values()) + max(languages) < FIRST_LOAD_BYTES, seen
    assert len(seen) <= 4  # with the texts five files; the twelve requests of a first load have room for what is asked


def test_built_files_are_few() -> None:
    assert len(list((BUILT / "assets").glob("*.js"))) <= 20
