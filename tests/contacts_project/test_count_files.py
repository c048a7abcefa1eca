"""Metrics counters include every process, also killed ones, and an unusable file never fails the code that counts."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from contacts_project.kernel import metrics
from contacts_project.kernel.metrics import Counter, CountFile, Histogram, _Process, read_all, read_files

COUNT = """
import sys, time
from pathlib import Path
from contacts_project.kernel.metrics import CountFile
file = CountFile(Path(sys.argv[1]))
values = file.values.get("planted") or file.add("planted", 1)
values[0] += 1
print("counted", flush=True)
time.sleep(60)
"""


def start(folder: Path) -> "subprocess.Popen[bytes]":
    """Start a process that increments a counter once and keeps running."""
    child = subprocess.Popen([sys.executable, "-c", COUNT, str(folder)], stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"counted\n"
    return child


def total(folder: Path) -> float:
    return sum(values[0] for key, values in read_files(folder) if key == "planted")


def test_each_process_has_a_file_and_reuses_that_of_a_dead_process(tmp_path: Path) -> None:
    children = [start(tmp_path), start(tmp_path)]
    try:
        assert total(tmp_path) == 2
        for _ in range(3):
            killed = children.pop(0)
            killed.send_signal(signal.SIGKILL)
            killed.wait()
            children.append(start(tmp_path))
        assert total(tmp_path) == 5
        assert len(list(tmp_path.iterdir())) == 2
    finally:
        for child in children:
            child.kill()
            child.wait()


def test_fork_counts_in_its_own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "folder", lambda: tmp_path)
    monkeypatch.setattr(metrics, "_process", _Process())
    counter = Counter("planted_total", "Planted.", ("label",))
    try:
        counter.count("one")
        child = os.fork()
        if child == 0:
            counter.count("one")
            os._exit(0)
        os.waitpid(child, 0)
        counter.count("one")
        assert [(sample.labels, sample.values) for sample in read_all()["planted_total"]] == [(("one",), (3.0,))]
        assert len(list(tmp_path.iterdir())) == 2
    finally:
        del metrics._declared["planted_total"]


@pytest.mark.parametrize("content", [b"", b"x" * 100, b"counts01" + b"\xff" * 200, b"counts01" + b"\0" * 200])
def test_damaged_file_is_replaced(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "1.counts").write_bytes(content)
    assert list(read_files(tmp_path)) == []
    file = CountFile(tmp_path)
    values = file.add("planted", 1)
    assert values is not None
    values[0] += 1
    assert list(read_files(tmp_path)) == [("planted", (1.0,))]


def test_full_disk_or_file_does_not_fail_the_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(metrics, "folder", lambda: tmp_path)
    monkeypatch.setattr(metrics, "_process", _Process())
    counter = Counter("planted_total", "Planted.", ("label",))
    try:
        with monkeypatch.context() as patch:
            patch.setattr(os, "posix_fallocate", full)
            counter.count("one")
        counter.count("one")
        assert [sample.values for sample in read_all()["planted_total"]] == [(2.0,)]
        monkeypatch.setattr(metrics, "SIZE", 4096)
        monkeypatch.setattr(metrics, "_process", _Process())
        counter.series.clear()
        for number in range(200):
            counter.count(str(number))
        assert len(read_all()["planted_total"]) == 200
    finally:
        del metrics._declared["planted_total"]


def test_number_of_series_per_metric_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "folder", lambda: tmp_path)
    monkeypatch.setattr(metrics, "_process", _Process())
    monkeypatch.setattr(metrics, "MAX_SERIES", 10)
    histogram = Histogram("planted_seconds", "Planted.", ("label",), (0.1, 1))
    try:
        for number in range(30):
            histogram.observe(number / 10, str(number))
        found = {sample.labels[0]: sample.values for sample in read_all()["planted_seconds"]}
        assert len(found) == 11
        assert found["1"][:3] == (1, 0, 0)
        assert found["5"][:3] == (0, 1, 0)
        assert sum(found["other"][:3]) == 20
        assert found["other"][-1] == pytest.approx(sum(range(10, 30)) / 10)
    finally:
        del metrics._declared["planted_seconds"]
