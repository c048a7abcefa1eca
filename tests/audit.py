"""`make audit`: whether advisories are known for the pinned packages that an instance runs.

    python -m tests.audit [--if-reachable] [--source pypi|osv] [--osv-url URL]

Exit status 0: none are known; 1: some are; 2: the source of advisories cannot be asked, or does not know what was
asked. `make lint` runs it with --if-reachable: then 2 is told, and passes.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import orjson

ROOT = Path(__file__).parent.parent
PINNED = ROOT / "requirements" / "tracing.txt"  # all of run.txt, and what is installed on demand
# Advisories of it are known. A mirror of a registry often has none at all, and pip-audit takes that for good news.
KNOWN_BAD = "django==5.2\n"
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
    status, told = audit(options.pinned, source)
    print(told)
    return CLEAN if status == UNREACHABLE and options.if_reachable else status


def audit(pinned: Path, source: list[str]) -> tuple[int, str]:
    """Ask for every package of `pinned`; returns the exit status, and what to tell."""
    with tempfile.TemporaryDirectory() as folder:
        probe = Path(folder) / "probe.txt"
        probe.write_text(KNOWN_BAD)
        asked = ask([*source, "--no-deps", "--requirement", str(probe)], PROBE_SECONDS)
    if not asked or not asked[0].get("vulns"):
        return UNREACHABLE, f"Not audited: no advisories to be had here. Run `make audit` where {source[1]} answers."
    asked = ask([*source, "--require-hashes", "--requirement", str(pinned)], AUDIT_SECONDS)
    if not asked:
        return UNREACHABLE, "Not audited: the source of advisories stopped answering."
    found = [f"{row['name']} {row['version']}: {entry['id']}" for row in asked for entry in row.get("vulns", ())]
    unknown = [row["name"] for row in asked if "skip_reason" in row]
    if found:
        return FOUND, "\n".join(["Advisories are known for:", *found])
    if unknown:
        return UNREACHABLE, f"Not audited: {', '.join(unknown)}."
    return CLEAN, f"No advisory is known for {len(asked)} packages."


def ask(arguments: list[str], seconds: int) -> list[dict[str, Any]]:
    """What pip-audit knows of each package; nothing where it cannot be had within `seconds`."""
    command = [str(Path(sys.executable).parent / "pip-audit"), "--disable-pip", "--format", "json", "--timeout", "3"]
    try:
        done = subprocess.run([*command, *arguments], capture_output=True, timeout=seconds, check=False)
        rows: list[dict[str, Any]] = orjson.loads(done.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, orjson.JSONDecodeError):
        return []
    return rows


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
