"""Creates rows of carddav directly, for tests that do not need a sync to create them."""

from typing import Any

from django.utils import timezone

from accounts.models import User
from carddav.models import Conflict, Connection, Mapping, PendingImport, Run
from people.contents.fields import remote_fields
from people.models import Person
from people.vcard import read_card


def make_connection(owner: User, **fields: Any) -> Connection:
    """A connection of `owner` whose address book has been discovered."""
    server = fields.pop("server_url", "http://127.0.0.1:1/")
    values = {"username": "ada", "password": "secret", "book_url": f"{server}ada/book/", **fields}
    return Connection.objects.create(owner=owner, server_url=server, **values)


def make_mapping(connection: Connection, person: Person) -> Mapping:
    """The mapping of a person to a card that is the same on both sides."""
    raw = f"BEGIN:VCARD\r\nVERSION:3.0\r\nFN:{person.name}\r\nN:;{person.name};;;\r\nEND:VCARD\r\n"
    fields = remote_fields(read_card(raw)[0])
    href = f"/ada/book/{person.pk}.vcf"
    return Mapping.objects.create(
        owner=connection.owner,
        connection=connection,
        person=person,
        href=href,
        href_key=href,
        etag='"1"',
        remote_raw=raw,
        base_remote=fields,
        base_local=fields,
        local_rev=person.revision,
    )


def make_conflict(mapping: Mapping, field: str = "organization") -> Conflict:
    """An open conflict: `field` was changed on both sides."""
    fields = [{"field": field, "base": None, "local": "Here", "remote": "There"}]
    return Conflict.objects.create(
        owner=mapping.owner, connection=mapping.connection, mapping=mapping, person=mapping.person, fields=fields
    )


def make_run(connection: Connection) -> Run:
    """A run that succeeded without changes."""
    now = timezone.now()
    return Run.objects.create(
        owner=connection.owner, connection=connection, trigger="manual", state="ended", started_at=now, ended_at=now
    )


def make_pending(owner: User) -> PendingImport:
    """A pending import of an uploaded card."""
    raw = "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Zoe\r\nEND:VCARD\r\n"
    return PendingImport.objects.create(owner=owner, display_name="Zoe", raw=raw, digest="x" * 64)
