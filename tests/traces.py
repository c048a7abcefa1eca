"""Counts the project's files and functions that run for an editing PUT and for one changed card of a sync.

    pytest -s tests/traces.py

Prints the figures; `python -m tests.shape` prints what can be counted without running anything.
"""

import logging
import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from django.conf import settings
from django.test import Client as DjangoClient

from tests.carddav.sync.conftest import synced  # noqa: F401 - a fixture
from tests.carddav.sync.synced_account import SyncedAccount, vcard
from tests.client import Client
from tests.routes.test_files_of_a_write import EDIT, whole_body

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


class Trace:
    """What ran: files, functions (without comprehensions), calls, and moves: calls from one file to another."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.functions: set[tuple[str, int]] = set()
        self.calls = self.moves = 0
        self._root = f"{settings.BASE_DIR}/"

    def run(self, action: Callable[[], Any]) -> Any:
        previous = sys.getprofile()
        logging.disable(logging.CRITICAL)
        sys.setprofile(self._record)
        try:
            return action()
        finally:
            sys.setprofile(previous)
            logging.disable(logging.NOTSET)

    def _record(self, frame: FrameType, event: str, _: Any) -> None:
        path = self._path(frame)
        if event != "call" or not path:
            return
        self.files.add(path)
        if frame.f_code.co_name == "<lambda>" or not frame.f_code.co_name.startswith("<"):
            self.functions.add((path, frame.f_code.co_firstlineno))
        self.calls += 1
        caller = frame.f_back
        while caller is not None and not self._path(caller):
            caller = caller.f_back  # through Django and other libraries
        self.moves += caller is not None and self._path(caller) != path

    def _path(self, frame: FrameType) -> str:
        """The path of a file of the project; empty for tests and libraries."""
        path = frame.f_code.co_filename
        inner = path.removeprefix(self._root) if path.startswith(self._root) else ""
        return "" if inner.startswith((".venv/", "tests/")) else inner

    def show(self, name: str) -> None:
        functions = Counter(path for path, _ in self.functions)
        print(f"\n{name}: {len(self.files)} files, {len(self.functions)} functions, ", end="")
        print(f"{self.calls} calls, {self.moves} moves between files")
        for path, number in functions.most_common():
            print(f"    {number:3} {path}")


def test_put(api: Client) -> None:
    body = whole_body(api)
    path = f"/api/people/{api.ok('POST', '/api/people', body, status=201)['person']['id']}"
    (value,) = body["customFieldValues"]
    edit = {**body, **EDIT, "customFieldValues": [{**value, "value": "M"}]}
    for change in (body, edit, body):  # what is built and compiled once is not counted
        api.ok("PUT", path, change)
    client = DjangoClient(headers={"Authorization": f"Bearer {api.bearer}"})
    trace = Trace()
    response = trace.run(lambda: client.put(path, edit, content_type="application/json"))
    assert response.status_code == 200
    trace.show("PUT that edits a mail, a date, a value and the notes")


def test_changed_card(synced: SyncedAccount) -> None:  # noqa: F811 - the fixture
    lines = ("EMAIL:ada@example.org", "TEL:+49 151 1234567", "BDAY:1990-02-03", "CATEGORIES:Band")
    href = synced.server.edit("1.vcf", vcard("Ada Lovelace", *lines, uid="ada"))
    synced.sync()
    for number in range(3):
        text = vcard("Ada Lovelace", f"EMAIL:ada{number}@example.org", *lines[1:], f"NOTE:{number}", uid="ada")
        assert synced.server.edit("1.vcf", text) == href
        trace = Trace()
        trace.run(synced.sync)
    assert synced.person().emails[0]["email"] == "ada2@example.org"
    trace.show("one changed card of a sync")
