"""A client that uses only routes which openapi-python-client has generated from the API description."""

import os
from datetime import UTC, datetime
from http import HTTPStatus
from io import BytesIO
from typing import Any, TypeVar

from contacts_client.connection import RetryingTransport
from contacts_client.routes import AuthenticatedClient, Client
from contacts_client.routes import models as m
from contacts_client.routes.api.groups import create_group
from contacts_client.routes.api.important_dates import create_important_date
from contacts_client.routes.api.people import (
    create_person,
    delete_person,
    get_person,
    list_people,
    restore_person,
    update_person,
)
from contacts_client.routes.api.photos import get_person_photo
from contacts_client.routes.api.relationship_types import list_relationship_types
from contacts_client.routes.api.relationships import create_relationship
from contacts_client.routes.api.trash import list_deleted
from contacts_client.routes.api.v_card import import_v_cards
from contacts_client.routes.types import File

T = TypeVar("T")
api = AuthenticatedClient(
    base_url=os.environ["BASE"], token=os.environ["TOKEN"], httpx_args={"transport": RetryingTransport()}
)


def expect(kind: type[T], response: Any) -> T:
    """The response, which must be of this type."""
    assert isinstance(response, kind), response
    return response


group = expect(m.GroupAnswer, create_group.sync(client=api, body=m.GroupCreateRequest(name="Family"))).group
emails = [m.EmailAddressRequest(email="ada@example.org", type_="home")]
body = m.PersonRequest(name="Ada", group_ids=[group.id], emails=emails)
ada = expect(m.PersonAnswer, create_person.sync(client=api, body=body)).person
bob = expect(m.PersonAnswer, create_person.sync(client=api, body=m.PersonRequest(name="Bob"))).person
assert ada.groups[0].name == "Family"
assert ada.emails[0].email == "ada@example.org"

birthday = m.ImportantDateRequest(date="1815-12-10", type_=m.ImportantDateTypeEnum.BIRTHDAY)
made = expect(m.ImportantDateAnswer, create_important_date.sync(ada.id, client=api, body=birthday)).important_date
assert made.date == datetime(1815, 12, 10, tzinfo=UTC)

types = expect(m.AllRelationshipTypes, list_relationship_types.sync(client=api)).relationship_types
friend = next(kind for kind in types if kind.name == "FRIEND")
pair = m.RelationshipCreateRequest(person_id=ada.id, related_person_id=bob.id, relationship_type_id=friend.id)
expect(m.OneRelationship, create_relationship.sync(client=api, body=pair))
refused = expect(m.BadRequestInvalidError, create_relationship.sync(client=api, body=pair))
assert refused.details
assert refused.details[0].message

read = get_person.sync_detailed(ada.id, client=api)
assert expect(m.PersonAnswer, read.parsed).person.relationships[0].related_person.name == "Bob"
again = get_person.sync_detailed(ada.id, client=api, if_none_match=read.headers["ETag"])
assert again.status_code == HTTPStatus.NOT_MODIFIED

change = m.PersonChangeRequest(surname="Lovelace", nickname=None)
assert expect(m.PersonAnswer, update_person.sync(ada.id, client=api, body=change)).person.surname == "Lovelace"
page = expect(m.PeopleAnswer, list_people.sync(client=api, limit=1))
assert page.pagination
assert page.pagination.has_more
expect(m.NotFoundError, get_person_photo.sync(ada.id, client=api))

cards = File(payload=BytesIO(b"BEGIN:VCARD\r\nVERSION:4.0\r\nFN:Grace Hopper\r\nEND:VCARD\r\n"))
assert expect(m.VCardImportReceipt, import_v_cards.sync(client=api, body=cards)).imported == 1

expect(m.PersonDeletedAnswer, delete_person.sync(ada.id, client=api, body=m.PersonDeleteRequest()))
expect(m.NotFoundError, get_person.sync(ada.id, client=api))
trash = expect(m.DeletedPeople, list_deleted.sync(client=api, type_=m.ListDeletedType.PEOPLE))
assert [person.id for person in trash.deleted] == [ada.id]
assert expect(m.PersonAnswer, restore_person.sync(ada.id, client=api)).person.deleted_at is None
assert expect(m.BadRequestInvalidNotDeletedError, restore_person.sync(ada.id, client=api)).code == "not_deleted"

anonymous = Client(base_url=os.environ["BASE"])
expect(
    m.UnauthorizedAccountDeletedSessionExpiredSessionRevokedUnauthenticatedError,
    list_people.sync(client=anonymous),  # type: ignore[arg-type]
)
print("ok")
