"""Runs a program with modules of the client in Node, as Vite gives them to the browser."""

import json
from typing import Any

from tests.clients.generator import generate_typescript
from tests.npm import NODE, WEB, install_packages, run

_PROGRAM = """
import { createServer } from "vite";
const input = JSON.parse(process.argv[1]);
globalThis.document = { documentElement: {} };
const server = await createServer({ appType: "custom", logLevel: "error", optimizeDeps: { noDiscovery: true },
  server: { middlewareMode: true, watch: null, hmr: false, ws: false } });
const load = (path) => server.ssrLoadModule(`/src/${path}`);
const result = await (async () => { %s })();
process.stdout.write(JSON.stringify(result));
await server.close();
"""


def run_in_client(program: str, argument: Any = None) -> Any:
    """The result of `program`, the body of a function with `input`, and `load` for a module by its path in src."""
    install_packages(WEB)
    generate_typescript()
    source = _PROGRAM.replace("%s", program)
    return json.loads(run([NODE, "--no-warnings", "--input-type=module", "-e", source, json.dumps(argument)], WEB))
