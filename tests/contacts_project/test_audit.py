"""The audit of the pinned packages fails on an advisory, and does not pass if the source cannot be reached."""

import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from tests import audit

HASH = "--hash=sha256:" + "0" * 64


@contextmanager
def advisories(*packages: str) -> Iterator[list[str]]:
    """Run an OSV server that has an advisory about each of these packages; yields the arguments that select it."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            query = orjson.loads(self.rfile.read(int(self.headers["Content-Length"])))
            affected = {"package": {"name": query["package"]["name"], "ecosystem": "PyPI"}, "ranges": []}
            known = [{"id": "PYSEC-1", "summary": "Bad.", "affected": [affected], "published": "2026-01-01T00:00:00Z"}]
            body = orjson.dumps({"vulns": known} if query["package"]["name"] in packages else {})
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield ["--source", "osv", "--osv-url", f"http://127.0.0.1:{server.server_port}/v1/query"]
        server.shutdown()


@pytest.fixture
def pinned(tmp_path: Path) -> list[str]:
    path = tmp_path / "pinned.txt"
    path.write_text(f"requests==2.0.0 {HASH}\ncelery==5.0.0 {HASH}\n")
    return ["--pinned", str(path)]


@pytest.fixture(autouse=True)
def _cached_audits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run each audit once for all calls of a test, because it is up to two runs of pip-audit."""
    original_audit, results = audit.audit, dict[str, tuple[int, str]]()

    def cached_audit(pinned: Path, source: list[str]) -> tuple[int, str]:
        key = f"{pinned} {source}"
        if key not in results:
            results[key] = original_audit(pinned, source)
        return results[key]

    monkeypatch.setattr(audit, "audit", cached_audit)


@pytest.fixture
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Call pip-audit in this process: to import it takes most of a run."""
    from pip_audit._cli import audit as pip_audit

    def run(command: list[str], **options: Any) -> Any:
        monkeypatch.setattr(sys, "argv", command)
        with redirect_stdout(StringIO()) as output, suppress(SystemExit):
            pip_audit()
        return SimpleNamespace(stdout=output.getvalue())

    # pip-audit logs whole URLs, which tests/leaks.py would report.
    monkeypatch.setattr(logging.getLogger("pip_audit"), "propagate", False)
    monkeypatch.setattr(audit, "subprocess", SimpleNamespace(run=run, TimeoutExpired=subprocess.TimeoutExpired))


def test_known_advisory_fails(pinned: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with advisories("django", "celery") as source:
        assert audit.main([*source, *pinned]) == audit.FOUND
        assert audit.main([*source, *pinned, "--if-reachable"]) == audit.FOUND
    assert capsys.readouterr().out.count("celery 5.0.0: PYSEC-1") == 2


@pytest.mark.usefixtures("_in_this_process")
def test_default_audits_the_packages_of_an_instance(capsys: pytest.CaptureFixture[str]) -> None:
    with advisories("django") as source:
        assert audit.main(source) == audit.FOUND
    assert "django 5.2" in capsys.readouterr().out


@pytest.mark.usefixtures("_in_this_process")
def test_packages_without_advisories_pass(pinned: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with advisories("django") as source:
        assert audit.main([*source, *pinned]) == audit.CLEAN
    assert "for 2 packages" in capsys.readouterr().out


@pytest.mark.usefixtures("_in_this_process")
def test_source_without_any_advisories_is_not_trusted(pinned: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """For example a mirror of a registry that has no advisories: its response proves nothing."""
    with advisories() as source:
        assert audit.main([*source, *pinned]) == audit.UNREACHABLE
        assert audit.main([*source, *pinned, "--if-reachable"]) == 0
    assert capsys.readouterr().out.count("Not audited") == 2


def test_unreachable_source_passes_with_if_reachable(pinned: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    nobody = ["--source", "osv", "--osv-url", "http://127.0.0.1:9/v1/query"]
    assert audit.main([*nobody, *pinned]) == audit.UNREACHABLE
    assert audit.main([*nobody, *pinned, "--if-reachable"]) == 0
    assert capsys.readouterr().out.count("Not audited") == 2
