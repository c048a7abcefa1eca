"""The TypeScript client's store in a browser: Chromium, closed and opened again."""

import http.server
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

PAGE = """<!doctype html><title></title><script type="module">
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
STRIP = (
    "import m from 'node:module'; import f from 'node:fs';"
    "process.stdout.write(m.stripTypeScriptTypes(f.readFileSync('src/indexedDbStore.ts', 'utf8')))"
)


class Site:
    """A web server with the store, as JavaScript, and pages; what they send comes back by `told`."""

    def __init__(self, folder: Path) -> None:
        self.told: Queue[str] = Queue()
        site = self

        class Handler(http.server.SimpleHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                self.send_response(204)
                self.end_headers()
                site.told.put(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder))
        self.server.daemon_threads = True

    def look(self, page: str, profile: Path) -> str:
        """What a page sends in a browser that is opened for it, and killed afterwards."""
        command = [
            *("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
            *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
            *(f"--user-data-dir={profile}", "--remote-debugging-port=0"),
            f"http://127.0.0.1:{self.server.server_port}/{page}",
        ]
        browser = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            return self.told.get(timeout=120)
        finally:
            browser.terminate()
            browser.wait()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    (tmp_path / "write.html").write_text(PAGE % WRITES)
    (tmp_path / "read.html").write_text(PAGE % READS)
    script = run([NODE, "--no-warnings", "--input-type=module", "-e", STRIP], TYPESCRIPT)
    (tmp_path / "indexedDbStore.js").write_text(script)
    site = Site(tmp_path)
    thread = threading.Thread(target=site.server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield site
    site.server.shutdown()
    thread.join()
    site.server.server_close()


def test_what_was_written_is_there_when_the_browser_is_opened_again(site: Site, tmp_path: Path) -> None:
    """In the order of keys; of a write that failed, nothing."""
    assert site.look("write.html", tmp_path / "profile") == '["DataCloneError"]'
    assert site.look("read.html", tmp_path / "profile") == '[["a","b"],[],"first",7,true,[1,null]]'
