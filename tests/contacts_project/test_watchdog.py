"""A process whose interpreter or event loop is held ends, with the stacks of its threads; a busy one goes on."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import requests

from tests import ROOT
from tests.loopback import closed_port

# The timer of these processes runs out after a second without a beat.
SHORT = """
import asyncio, ctypes, faulthandler, signal, sys, threading, time
from contacts_project.processes import watchdog
watchdog.HELD_SECONDS, watchdog.BEAT_SECONDS = 0.9, 0.1

def hold_the_interpreter(*args):
    ctypes.PyDLL(None).sleep(120)  # no other thread runs, as while a regular expression backtracks

def hold_the_loop(*args):
    time.sleep(120)  # other threads go on

def work(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
"""


def run(program: str, *, seconds: float = 60) -> tuple[int, str]:
    command = [sys.executable, "-c", SHORT + program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=seconds)
    return done.returncode, done.stderr


@pytest.mark.parametrize("hold", ["hold_the_interpreter", "hold_the_loop"])
def test_web_process_that_answers_nothing_ends(hold: str) -> None:
    status, errors = run(f"""
async def serve():
    beats = asyncio.create_task(watchdog.watch_event_loop())
    await asyncio.sleep(0.3)
    {hold}()

asyncio.run(serve())
""")
    assert status == 1
    assert "Timeout" in errors
    assert f"in {hold}" in errors, "the log shows what held it"


def test_worker_whose_interpreter_is_held_ends() -> None:
    status, errors = run("""
watchdog.watch_interpreter()
threading.Thread(target=hold_the_interpreter).start()
time.sleep(120)
""")
    assert (status, "in hold_the_interpreter" in errors) == (1, True)


def test_busy_process_goes_on() -> None:
    """Threads that use the processor all the time, a long stream, and a task of the loop that waits for long."""
    status, errors = run("""
watchdog.HELD_SECONDS = 2

async def stream():
    for _ in range(40):
        await asyncio.sleep(0.1)
        work(0.01)

async def serve():
    beats = asyncio.create_task(watchdog.watch_event_loop())
    threads = [asyncio.to_thread(work, 4) for _ in range(4)]
    await asyncio.gather(stream(), asyncio.sleep(4), *threads)
    beats.cancel()
    watchdog.stop_watching()

asyncio.run(serve())
time.sleep(2.5)  # what ends may take its time
sys.exit(7)
""")
    assert (status, errors) == (7, "")


def test_stopped_worker_is_watched_no_longer() -> None:
    status, errors = run("""
watchdog.watch_interpreter().set()
time.sleep(0.3)
hold = threading.Thread(target=work, args=(1.5,))
hold.start(); hold.join()
sys.exit(7)
""")
    assert (status, errors) == (7, "")


SERVER = (
    SHORT
    + """
import runpy
signal.signal(signal.SIGUSR1, hold_the_interpreter)
runpy.run_module("contacts_project.server", run_name="__main__")
"""
)
SUPERVISOR = """
import socket, sys
from contacts_project.processes.supervisor import Supervisor
# A machine under load may take seconds for a beat.
listener = socket.create_server(("127.0.0.1", int(sys.argv[2])), backlog=64)
listener.set_inheritable(True)
supervisor = Supervisor({"web": [sys.executable, "-c", sys.argv[1], "--fd", str(listener.fileno())]}, listener, 6.0)
if supervisor.wait_for_web():
    print("pid", supervisor.children["web"].pid, flush=True)
    supervisor.watch()
supervisor.end()
"""


@pytest.fixture
def supervised(tmp_path: Path) -> Iterator[tuple[int, Path, "subprocess.Popen[bytes]"]]:
    """Port, log and supervisor of a real web process.

    It refuses a request without token before it needs a table, so its database has none.
    """
    port, data = closed_port(), tmp_path / "data"
    environment = {**os.environ, "DATA_DIR": str(data), "DJANGO_SETTINGS_MODULE": "contacts_project.settings"}
    for name in ("DATABASE_URL", "REDIS_URL"):
        environment.pop(name, None)
    log = tmp_path / "log"
    with log.open("w") as output:
        command = [sys.executable, "-c", SUPERVISOR, SERVER, str(port)]
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=output)
    try:
        wait_until(lambda: answers(port) and "pid " in log.read_text(), log)
        yield port, log, process
    finally:
        process.send_signal(signal.SIGCONT)
        process.terminate()
        process.wait(60)


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGSTOP])
def test_supervisor_replaces_a_web_process_that_does_nothing(
    supervised: tuple[int, Path, "subprocess.Popen[bytes]"], number: signal.Signals
) -> None:
    """Its main thread holds the interpreter, or it stands still as a whole; the next one answers on its socket."""
    port, log, _ = supervised
    os.kill(web_pid(log), number)
    wait_until(lambda: "The web ended with -9; starting it again." in log.read_text(), log)
    wait_until(lambda: answers(port), log)
    text = log.read_text()
    assert text.count("The web has given no sign of life for 6 seconds; ending it.") == 1
    # Only one that runs at all can say what holds it.
    assert ("in hold_the_interpreter" in text) == (number == signal.SIGUSR1)


def test_machine_that_stood_still_ends_nobody(supervised: tuple[int, Path, "subprocess.Popen[bytes]"]) -> None:
    port, log, process = supervised
    pid = web_pid(log)
    for stopped in (pid, process.pid):
        os.kill(stopped, signal.SIGSTOP)
    time.sleep(8)
    os.kill(process.pid, signal.SIGCONT)
    time.sleep(1)  # the web process comes back later than the one that judges it
    os.kill(pid, signal.SIGCONT)
    wait_until(lambda: answers(port), log)
    time.sleep(8)
    os.kill(pid, 0)
    assert "sign of life" not in log.read_text()
    assert "ended with" not in log.read_text()


def test_beats_go_to_systemd(tmp_path: Path) -> None:
    path = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(path)
        systemd.settimeout(60)
        program = (
            f"{SHORT}\nimport os\nos.environ['NOTIFY_SOCKET'] = {path!r}\nwatchdog.watch_interpreter()\ntime.sleep(1)"
        )
        process = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT)
        assert [systemd.recv(100) for _ in range(3)] == [b"WATCHDOG=1"] * 3
        process.wait(60)


def web_pid(log: Path) -> int:
    return int(log.read_text().rpartition("pid ")[2].split()[0])


def answers(port: int) -> bool:
    try:
        return requests.get(f"http://127.0.0.1:{port}/api/version", timeout=5).status_code == 401
    except requests.RequestException:
        return False


def wait_until(is_true: Callable[[], bool], log: Path, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < end, log.read_text()[-3000:]
        time.sleep(0.1)
