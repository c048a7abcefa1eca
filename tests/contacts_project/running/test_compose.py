"""compose.yaml is valid, and its processes work together."""

import datetime as dt
import re
import subprocess
import sys
from functools import partial
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import psycopg
import requests

from tests import ROOT
from tests.contacts_project.running.composition import Composition, image_instruction, run_composition
from tests.fork_targets import run_module
from tests.loopback import Recorder, closed_port, is_listening, recording_server
from tests.workers import run_manage, start_fork


def test_compose_file_is_valid() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", "compose.yaml"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_image_has_an_unprivileged_user_and_a_pinned_base() -> None:
    assert image_instruction("USER").split(":")[0].isdigit()
    assert image_instruction("USER").split(":")[0] != "0"
    dockerfile = (ROOT / "Dockerfile").read_text()
    assert re.search(r"^ARG PYTHON=python:\S+@sha256:[0-9a-f]{64}$", dockerfile, re.MULTILINE)
    assert "curl" not in dockerfile


def test_two_web_and_two_worker_processes_deliver_once_and_stop_cleanly(tmp_path: Path) -> None:
    """One of each is started by its command, with the packages of requirements/run.txt alone.

    The second web, the second worker and the worker for chores are copies of a loaded process.
    """
    with recording_server() as receiver, run_composition(tmp_path, **dotenv_lines()) as compose:
        assert compose.run("prepare").returncode == 0
        migrated = compose.run("migrate")
        assert migrated.returncode == 0, migrated.stderr
        before = files_in_image(compose)
        ports = [closed_port(), closed_port()]
        originals = [compose.start("web", PORT=str(ports[0])), compose.start("worker")]
        web_environment = compose.environment("web", PORT=str(ports[1]))
        web = start_fork(run_module, tmp_path / "web.log", web_environment, web_module(compose))
        worker, chores = start_worker(compose, "worker"), start_worker(compose, "chores")
        for port in ports:
            compose.wait_until(partial(is_listening, port), f"a web listens on {port}")
            compose.wait_for_health("web", PORT=str(port))
        bases = [f"http://127.0.0.1:{port}" for port in ports]
        session = register_and_request_reminder(bases[0], receiver)
        make_schedule_due(compose)
        originals.append(compose.start("beat"))
        worker.kill()
        compose.wait_until(lambda: receiver.received, "the webhook comes")
        # A second scan sends nothing again.
        assert run_manage(tmp_path, compose.environment("web"), "deliver_reminders")[0] == 0
        assert [request.path for request in receiver.received] == ["/hook"]
        shown = [session.get(f"{base}/api/people", timeout=60).json()["people"] for base in bases]
        assert shown[0] == shown[1]
        assert [person["name"] for person in shown[0]] == ["Ada"]
        for process in originals:
            process.terminate()
        for copy in (web, chores):
            copy.terminate()
            copy.join(60)
        assert [process.wait(60) for process in originals] + [web.exitcode, chores.exitcode] == [0] * 5
        assert files_in_image(compose) == before, "the image must not be written to"


def web_module(compose: Composition) -> str:
    python, option, module = compose.services["web"]["command"]
    assert (python, option) == ("python", "-m")
    return str(module)


def start_worker(compose: Composition, service: str) -> ForkServerProcess:
    python, option, *module_and_options = compose.services[service]["command"]
    assert (python, option) == ("python", "-m")
    log = compose.folder / f"{service}.log"
    return start_fork(run_module, log, compose.environment(service), *module_and_options)


def dotenv_lines() -> dict[str, str]:
    """The variables of .env."""
    return {"OUTBOUND_ALLOWED_NETWORKS": "127.0.0.0/8", "OUTBOUND_ALLOWED_PORTS": "*"}


def make_schedule_due(compose: Composition) -> None:
    """Backdate the schedule by an hour, so that the scheduler runs its tasks at once."""
    with psycopg.connect(compose.environment("beat")["DATABASE_URL"]) as database:
        database.execute("UPDATE django_celery_beat_periodictask SET last_run_at = now() - interval '1 hour'")


def files_in_image(compose: Composition) -> set[Path]:
    return {path for path in compose.app.rglob("*") if "__pycache__" not in path.parts}


def register_and_request_reminder(base: str, receiver: Recorder) -> requests.Session:
    """Register and create a reminder for today, with a webhook as destination; returns the signed-in session."""
    session = requests.Session()

    def send(method: str, path: str, body: dict[str, Any]) -> Any:
        session.headers["X-CSRFToken"] = session.cookies.get("csrftoken") or ""
        response = session.request(method, f"{base}{path}", json=body, timeout=60)
        assert response.ok, (path, response.text)
        return response.json()

    send("POST", "/api/auth/register", {"email": "ada@example.org", "password": "Analytical-1843", "name": "Ada"})
    send("PUT", "/api/notifications/email", {"enabled": False})
    send("PUT", "/api/user/reminder-hour", {"hour": 0})
    send("POST", "/api/notifications/endpoints", {"type": "WEBHOOK", "label": "Hook", "url": f"{receiver.url}/hook"})
    today = dt.datetime.now(dt.UTC).date().isoformat()
    day = {"title": "Met", "date": today, "reminderEnabled": True, "reminderType": "ONCE"}
    send("POST", "/api/people", {"name": "Ada", "importantDates": [day]})
    return session
