"""Compares the files of the project that run during one write with docs/request.md. How many they are is no goal."""

import logging
import re
import sys
from types import FrameType
from typing import Any

import pytest
from django.conf import settings
from django.test import Client as DjangoClient

from tests.client import Client

# What the counted PUT changes: an e-mail address, the day of a date, a custom value, and the notes.
EDIT = {
    "notes": "m",
    "emails": [{"type": "home", "email": "edited@example.org"}],
    "importantDates": [{"type": "BIRTHDAY", "date": "1990-02-04", "reminderEnabled": True}],
}


@pytest.mark.one_database
def test_docs_list_the_files_of_an_edit(api: Client) -> None:
    body = whole_body(api)
    path = f"/api/people/{api.ok('POST', '/api/people', body, status=201)['person']['id']}"
    related = api.ok("POST", "/api/people", {"name": "Grace"}, status=201)["person"]["id"]
    kind = api.ok("GET", "/api/relationship-types")["relationshipTypes"][0]["id"]
    relationship = {"personId": path.rpartition("/")[2], "relatedPersonId": related, "relationshipTypeId": kind}
    api.ok("POST", "/api/relationships", relationship)
    api.ok("PUT", path, body)  # once before, so that what is built and compiled once is not counted
    # As often as what is built once by an edit, then once more with other values.
    for number in range(2):
        (value,) = body["customFieldValues"]
        api.ok("PUT", path, {**body, **EDIT, "notes": f"{number}", "customFieldValues": [{**value, "value": "M"}]})
        api.ok("PUT", path, body)
    (value,) = body["customFieldValues"]
    passed = files_passed(api.bearer, path, {**body, **EDIT, "customFieldValues": [{**value, "value": "M"}]})
    page = (settings.BASE_DIR / "docs" / "request.md").read_text()
    assert passed == set(re.findall(r"^\| `([\w/]+\.py)` \|", page, re.MULTILINE))


def whole_body(api: Client) -> dict[str, Any]:
    """A body with a value of every kind of record that belongs to a person."""
    group = api.ok("POST", "/api/groups", {"name": "Band"}, status=201)["group"]["id"]
    template = {"name": "Size", "type": "TEXT"}
    field = api.ok("POST", "/api/custom-field-templates", template, status=201)["customFieldTemplate"]["id"]
    return {
        "name": "Ada",
        "surname": "Lovelace",
        "notes": "n",
        "groupIds": [group],
        "phoneNumbers": [{"type": "mobile", "number": "+49 151 99999"}],
        "emails": [{"type": "home", "email": "whole@example.org"}],
        "addresses": [{"type": "home", "streetLine1": "S 1", "locality": "Berlin"}],
        "urls": [{"type": "home", "url": "https://example.org"}],
        "customFieldValues": [{"templateId": field, "value": "L"}],
        "importantDates": [{"type": "BIRTHDAY", "date": "1990-02-03", "reminderEnabled": True}],
    }


def files_passed(token: str, path: str, body: dict[str, Any]) -> set[str]:
    """The project's files with a function that runs during a PUT. Code that runs at import time does not count."""
    # Not tests.client.Client, which checks the response with code of the project.
    client = DjangoClient()
    root, files = f"{settings.BASE_DIR}/", set()

    def record_file(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(root):
            files.add(frame.f_code.co_filename.removeprefix(root))

    previous = sys.getprofile()
    logging.disable(logging.CRITICAL)  # log handlers are not part of the path
    sys.setprofile(record_file)
    try:
        response = client.put(path, body, content_type="application/json", HTTP_AUTHORIZATION=f"Bearer {token}")
    finally:
        sys.setprofile(previous)
        logging.disable(logging.NOTSET)
    assert response.status_code == 200, response.content
    return {file for file in files if not file.startswith((".venv/", "tests/"))}
