"""`make audit`: looks for security advisories about the pinned packages that an instance runs.

    python -m tests.audit [--if-reachable] [--source pypi|osv] [--osv-url URL]

Exit status 0: no advisories are known; 1: some are; 2: the source of advisories cannot be reached, or does not know a
package. With --if-reachable, as in `make lint`, status 2 becomes 0 and only the message is printed.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import orjson

from tests import ROOT

PINNED = ROOT / "requirements" / "tracing.txt"  # all packages of run.txt, and the optional ones
# A version with known advisories. A mirror of PyPI often has no advisories at all, which pip-audit reports as success.
VULNERABLE_PIN = "django==5.2\n"
PROBE_SECONDS, AUDIT_SECONDS = 10, 300
CLEAN, FOUND, UNREACHABLE = 0, 1, 2


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--if-reachable", action="store_true")
    parser.add_argument("--source", choices=["pypi", "osv"], default="pypi")
    parser.add_argument("--osv-url", default="https://api.osv.dev/v1/query")
    parser.add_argument("--pinned", type=Path, default=PINNED)
    options = parser.parse_args(arguments)
    source = ["--vulnerability-service", options.source, "--osv-url", options.osv_url]
    status, message = audit(options.pinned, source)
    print(message)
    return CLEAN if status == UNREACHABLE and options.if_reachable else status


def audit(pinned: Path, source: list[str]) -> tuple[int, str]:
    """Look for advisories about every package of the requirements file; returns the exit status and a message."""
    with tempfile.TemporaryDirectory() as folder:
        probe = Path(folder) / "probe.txt"
        probe.write_text(VULNERABLE_PIN)
        rows = run_pip_audit([*source, "--no-deps", "--requirement", str(probe)], PROBE_SECONDS)
    if not rows or not rows[0].get("vulns"):
        return UNREACHABLE, f"Not audited: no advisories to be had here. Run `make audit` where {source[1]} answers."
    rows = run_pip_audit([*source, "--require-hashes", "--requirement", str(pinned)], AUDIT_SECONDS)
    if not rows:
        return UNREACHABLE, "Not audited: the source of advisories stopped answering."
    found = [f"{row['name']} {row['version']}: {entry['id']}" for row in rows for entry in row.get("vulns", ())]
    unknown = [row["name"] for row in rows if "skip_reason" in row]
    if found:
        return FOUND, "\n".join(["Advisories are known for:", *found])
    if unknown:
        return UNREACHABLE, f"Not audited: {', '.join(unknown)}."
    return CLEAN, f"No advisory is known for {len(rows)} packages."


def run_pip_audit(arguments: list[str], seconds: int) -> list[dict[str, Any]]:
    """Run pip-audit; returns its row of each package, or no rows if it fails or takes longer than `seconds`."""
    command = [str(Path(sys.executable).parent / "pip-audit"), "--disable-pip", "--format", "json", "--timeout", "3"]
    try:
        done = subprocess.run([*command, *arguments], capture_output=True, timeout=seconds, check=False)
        rows: list[dict[str, Any]] = orjson.loads(done.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, orjson.JSONDecodeError):
        return []
    return rows


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
