"""Rows of CardDAV for tests that do not care how they came to be."""

from typing import Any

from accounts.models import User
from carddav.models import Connection


def make_connection(owner: User, **fields: Any) -> Connection:
    """A connection of `owner` whose book is known already."""
    server = fields.pop("server_url", "http://127.0.0.1:1/")
    values = {"username": "ada", "password": "secret", "book_url": f"{server}ada/book/", **fields}
    return Connection.objects.create(owner=owner, server_url=server, **values)
