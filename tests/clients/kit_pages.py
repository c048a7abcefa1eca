"""Pages of the service's origin that have loaded the TypeScript kit as `kit`, and what tests run there as `tests`."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Request, Route

from accounts.models import User
from tests.browser import Chromium
from tests.client import Client
from tests.contacts_project.server.server_thread import RunningServer
from tests.npm import NODE, TYPESCRIPT, install_packages, run

_PAGE = """<!doctype html><title>kit</title><link rel="icon" href="data:,">
<script type="importmap">{"imports": {"openapi-fetch": "/kit/openapi-fetch.js"}}</script>
<script type="module">window.kit = await import("/kit/index.js"); window.tests = await import("/kit/inPage.js");
document.title = "ready";</script>"""
# Node strips the types, as the examples do.
_STRIP_TYPES = (
    "import m from 'node:module'; import f from 'node:fs';"
    "const names = f.readdirSync('src').filter((name) => name !== 'schema.ts').map((name) => `src/${name}`);"
    "const strip = (name) => [name.split('/').at(-1), m.stripTypeScriptTypes(f.readFileSync(name, 'utf8'))];"
    "process.stdout.write(JSON.stringify(Object.fromEntries([...names, 'tests/browser/inPage.ts'].map(strip))))"
)
# What each test needs: a copy in IndexedDB of the account in whose session the page is.
_OPEN_COPY = """async ([name, token]) => {
  const { Connection, Copy, IndexedDbStore, Session, retryingFetch } = kit;
  window.ended = 0;
  window.timesClosed = 0;
  window.connection = new Connection("", token || new Session(() => void window.ended++));
  window.store = await IndexedDbStore.open(name, () => void window.timesClosed++);
  window.copy = new Copy(store, connection);
}"""


@pytest.fixture(scope="session")
def kit_scripts() -> dict[str, str]:
    """The modules of the kit as JavaScript, by file name."""
    install_packages(TYPESCRIPT)
    stripped = json.loads(run([NODE, "--no-warnings", "--input-type=module", "-e", _STRIP_TYPES], TYPESCRIPT))
    scripts = {
        name.replace(".ts", ".js"): text.replace('"../../src/', '"./').replace('.ts";', '.js";')
        for name, text in stripped.items()
    }
    scripts["openapi-fetch.js"] = (TYPESCRIPT / "node_modules/openapi-fetch/dist/index.mjs").read_text()
    return scripts


@dataclass
class KitPages:
    """Opens pages. `requests` has method and path of each request to the API, of all contexts, in order."""

    chromium: Chromium
    scripts: dict[str, str]
    server: RunningServer
    owner: User
    requests: list[str] = field(default_factory=list)
    _senders: dict[str, Page] = field(default_factory=dict)

    def context(self, owner: User | None = None, **options: Any) -> BrowserContext:
        """A browser of its own, in which the owner has a session."""
        context = self.chromium.context(**options)
        self.prepare(context, self.server.base, owner or self.owner)
        return context

    def prepare(self, context: BrowserContext, base: str, owner: User) -> None:
        client = Client()
        client.force_login(owner)
        context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": base}])
        context.route("**/kit/**", self._serve)
        context.on("request", self._note)

    def _note(self, request: Request) -> None:
        _, found, path = request.url.partition("/api/")
        if found:
            self.requests.append(f"{request.method} /api/{path}")
            self._senders[self.requests[-1]] = request.frame.page

    def page_of_last(self, request: str) -> Page:
        """The page that sent this request last."""
        return self._senders[request]

    def _serve(self, route: Route) -> None:
        name = route.request.url.rpartition("/")[2]
        if name in self.scripts:
            route.fulfill(body=self.scripts[name], content_type="text/javascript")
        else:
            route.fulfill(body=_PAGE, content_type="text/html")

    def page(self, context: BrowserContext, name: str = "copy", *, token: str = "", base: str = "") -> Page:
        """A page with `connection` and `copy`, whose store has this name."""
        page = context.new_page()
        page.goto(f"{base or self.server.base}/kit/")
        page.wait_for_function("() => document.title === 'ready'", timeout=30_000)
        page.evaluate(_OPEN_COPY, [name, token])
        return page
