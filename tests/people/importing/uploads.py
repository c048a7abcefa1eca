"""Helpers that build vCards and upload files to import."""

from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from tests.client import Client
from tests.people.steps import list_people


def send_form(client: Client, path: str, data: str | bytes, name: str = "contacts.csv", **fields: str) -> Any:
    content = data.encode() if isinstance(data, str) else data
    form = encode_multipart(BOUNDARY, {"file": SimpleUploadedFile(name, content), **fields})
    return client.generic("POST", path, form, MULTIPART_CONTENT)


def import_file(client: Client, source: str, data: str | bytes, status: int = 200, **fields: str) -> Any:
    """Import a file; returns the receipt."""
    response = send_form(client, f"/api/import/{source}", data, **fields)
    assert response.status_code == status, response.content[:2000]
    return response.json()


def vcard(*lines: str, version: str = "3.0") -> bytes:
    """A card with these lines."""
    return "\r\n".join(["BEGIN:VCARD", f"VERSION:{version}", *lines, "END:VCARD", ""]).encode()


def import_vcards(client: Client, data: bytes, status: int = 200, content_type: str = "text/vcard") -> Any:
    """Import a vCard file; returns the receipt."""
    response = client.generic("POST", "/api/vcard/import", data, content_type)
    assert response.status_code == status, response.content
    return response.json()


def counts(response: Any) -> tuple[int, ...]:
    """The numbers of imported, updated, skipped and failed records in a receipt."""
    return tuple(response[key] for key in ("imported", "updated", "skipped", "errors"))


def people_by_name(client: Client) -> dict[str, Any]:
    """The people of the account, by name."""
    return {person["name"]: person for person in list_people(client)}
