"""The TypeScript client's store in Chromium: after a restart of the browser, and with two copies on one store."""

import http.server
import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from queue import Queue

import pytest

from tests.clients.generator import NODE, TYPESCRIPT, run

pytestmark = pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not here")

PAGE = """<!doctype html><title></title>
<script type="importmap">{"imports": {"openapi-fetch": "data:text/javascript,export default () => null"}}</script>
<script type="module">
import { Copy } from "./copy.js";
import { IndexedDbStore } from "./indexedDbStore.js";
const seen = [];
try {
  const store = await IndexedDbStore.open("copy");
  %s
  store.close();
} catch (error) { seen.push(String(error)); }
await fetch("/seen", { method: "POST", body: JSON.stringify(seen) });
</script>"""
WRITES = """
  const row = (id) => ({ type: "group", id, etag: "", record: { name: id, lines: [1, null] }, reading: 0 });
  await store.write([
    { table: "records", key: "group/b", row: row("b") },
    { table: "records", key: "group/a", row: row("a") },
    { table: "records", key: "group/c", row: row("c") },
    { table: "facts", key: "cursor", row: "first" },
  ]);
  await store.write([{ table: "records", key: "group/c" }, { table: "facts", key: "reading", row: 7 }]);
  await store.write([]);
  const broken = { table: "records", key: "group/z", row: () => undefined };
  const refused = await store.write([{ table: "facts", key: "cursor", row: "second" }, broken]).catch((e) => e.name);
  seen.push(refused);
"""
READS = """
  seen.push((await store.all("records")).map((row) => row.record.name), await store.all("edits"));
  seen.push(await store.get("facts", "cursor"), await store.get("facts", "reading"));
  seen.push((await store.get("records", "group/z")) === undefined);
  seen.push((await store.get("records", "group/a")).record.lines);
"""
# Two stores, as in two tabs. Each write of an edit first reads the next free number, so the tabs compete.
TABS = """
  const tabs = [new Copy(store), new Copy(await IndexedDbStore.open("copy"))];
  const every = tabs.flatMap((tab) => "0123456789".split("").map((name) => tab.create("group", { name })));
  await Promise.all(every);
  seen.push((await store.all("edits")).length, (await tabs[1].all("group")).length);
"""
MODULES = ("connection", "copy", "ids", "indexedDbStore", "merge")
STRIP_TYPES = (
    "import m from 'node:module'; import f from 'node:fs';"
    "const strip = (name) => m.stripTypeScriptTypes(f.readFileSync(`src/${name}.ts`, 'utf8'));"
    "process.stdout.write(JSON.stringify(process.argv.slice(1).map(strip)))"
)


class Site:
    """A web server with the store as JavaScript and with pages. `received` has what the pages send."""

    def __init__(self, folder: Path) -> None:
        self.received: Queue[str] = Queue()
        site = self

        class Handler(http.server.SimpleHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                self.send_response(204)
                self.end_headers()
                site.received.put(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder))
        self.server.daemon_threads = True

    def open_page(self, page: str, profile: Path) -> str:
        """Open the page in a new browser; returns what the page sends, and ends the browser."""
        command = [
            *("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
            *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
            *(f"--user-data-dir={profile}", "--remote-debugging-port=0"),
            f"http://127.0.0.1:{self.server.server_port}/{page}",
        ]
        browser = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            return self.received.get(timeout=120)
        finally:
            browser.terminate()
            browser.wait()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    (tmp_path / "write.html").write_text(PAGE % WRITES)
    (tmp_path / "read.html").write_text(PAGE % READS)
    (tmp_path / "tabs.html").write_text(PAGE % TABS)
    stripped = run([NODE, "--no-warnings", "--input-type=module", "-e", STRIP_TYPES, *MODULES], TYPESCRIPT)
    for name, script in zip(MODULES, json.loads(stripped), strict=True):
        (tmp_path / f"{name}.js").write_text(script.replace('.ts";', '.js";'))
    site = Site(tmp_path)
    thread = threading.Thread(target=site.server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield site
    site.server.shutdown()
    thread.join()
    site.server.server_close()


def test_store_survives_a_restart_of_the_browser(site: Site, tmp_path: Path) -> None:
    """Rows are in the order of their keys, and a failed write leaves nothing."""
    assert site.open_page("write.html", tmp_path / "profile") == '["DataCloneError"]'
    assert site.open_page("read.html", tmp_path / "profile") == '[["a","b"],[],"first",7,true,[1,null]]'


def test_edits_of_two_tabs_are_all_kept(site: Site, tmp_path: Path) -> None:
    assert site.open_page("tabs.html", tmp_path / "profile") == "[20,20]"
