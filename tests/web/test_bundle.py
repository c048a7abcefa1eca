"""The built files of the client are those that its source gives, and small."""

import gzip
import json
import re
from pathlib import Path

from tests.clients.generator import generate_typescript
from tests.npm import NODE, WEB, check_types, run
from tests.web.bundle import BUILT, build

_UNPACK = (
    "import fs from 'node:fs'; import zlib from 'node:zlib';"
    "for (const [packed, plain] of JSON.parse(process.argv[1]))"
    "if (!zlib.brotliDecompressSync(fs.readFileSync(packed)).equals(fs.readFileSync(plain))) console.log(packed);"
)
# What a browser loads before it shows the list of people.
FIRST_LOAD_BYTES = 80_000


def files(folder: Path) -> dict[str, bytes]:
    """The files of a build by name, without those in Brotli, whose bytes may depend on the machine."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".br")
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


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


def test_compressed_files_have_the_same_content() -> None:
    pairs = [(str(path), str(path.with_suffix(""))) for path in BUILT.rglob("*.br")]
    assert pairs
    assert run([NODE, "--input-type=module", "-e", _UNPACK, json.dumps(pairs)], BUILT) == ""


def test_types_of_the_client_are_right() -> None:
    generate_typescript()
    assert check_types(WEB) == check_types(WEB, "src/sw") == ""


def loaded_by(name: str, seen: dict[str, int]) -> None:
    """Add the compressed size of the file and of all that it imports statically."""
    if name in seen:
        return
    text = (BUILT / "assets" / name).read_bytes()
    seen[name] = len(gzip.compress(text))
    for imported in re.findall(r'(?:from|import)\s?"\./([\w.-]+\.js)"', text.decode()):
        loaded_by(imported, seen)


def test_first_load_is_small() -> None:
    html = (BUILT / "index.html").read_text()
    seen = {"index.html": len(gzip.compress(html.encode()))}
    for name in re.findall(r'/static/app/assets/([\w.-]+\.(?:js|css))"', html):
        loaded_by(name, seen)
    for path in (BUILT / "assets").glob("PeoplePage-*"):
        if path.suffix != ".br":
            loaded_by(path.name, seen)
    languages = [len(gzip.compress(path.read_bytes())) for path in (BUILT / "assets").glob("*-??-*.js")]
    assert sum(seen.values()) + max(languages, default=0) < FIRST_LOAD_BYTES, seen
