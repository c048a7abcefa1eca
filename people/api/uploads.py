"""Files in request bodies."""

from typing import Any
from uuid import UUID

import orjson
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request

from accounts.models import User
from accounts.vocabularies import DateReminders
from contacts_project.kernel.api.errors import NOT_A_LIST, PayloadTooLargeError
from contacts_project.kernel.api.fields import CLIENT_ID_SCHEMA, NOT_A_CLIENT_ID, ClientIdField
from contacts_project.kernel.api.schema import AnyField
from contacts_project.kernel.errors import NO_SUCH_RECORD, FieldError
from contacts_project.kernel.ids import parse_client_id, parse_id
from contacts_project.kernel.text_forms import NOT_A_BOOLEAN, NOT_A_CHOICE
from contacts_project.kernel.texts import Text, define_text
from people.models import Group

FILE_TOO_LARGE = define_text("file_too_large", "The file is too large: at most %(limit)s bytes.")


def uploaded_file(request: Request, field: str, *, max_bytes: int, missing: Text, too_large: Text) -> Any:
    """The file in this field. Raises FieldError(missing), PayloadTooLargeError(too_large)."""
    file = request.data.get(field)
    if file is None or isinstance(file, str):
        raise FieldError(field, missing)
    # A file that is the body itself has no size; BodyLimitMiddleware has compared the length of the body.
    if getattr(file, "size", 0) > max_bytes:
        raise PayloadTooLargeError(too_large)
    return file


JOINED_GROUPS = OpenApiParameter(
    "groupIds", OpenApiTypes.STR, description="Ids of groups with commas between, which everybody of the file joins."
)


def joined_groups_field() -> dict[str, AnyField]:
    """The same as a field of a form."""
    text = "A JSON list of the ids of groups, which everybody of the file joins."
    return {"groupIds": serializers.CharField(required=False, help_text=text)}


_REMINDED = "Which important dates get a reminder of which the file says nothing; as the account prefers when left out."
REMIND = OpenApiParameter("remind", enum=DateReminders.values, description=_REMINDED)


def remind_field() -> dict[str, AnyField]:
    """The same as a field of a form."""
    return {"remind": serializers.ChoiceField(DateReminders.values, required=False, help_text=_REMINDED)}


def read_remind(request: Request) -> str | None:
    """The choice in the field `remind` of a form, else in the query parameter; None: that of the account."""
    choice = request.data.get("remind") or request.query_params.get("remind") or None
    if choice is not None and choice not in DateReminders.values:
        raise FieldError("remind", NOT_A_CHOICE.format(choices=DateReminders.values))
    return choice


DRY_RUN = OpenApiParameter("dryRun", enum=["true", "false"], description="Say what would happen, and write nothing.")


def dry_run_field() -> dict[str, AnyField]:
    """The same as a field of a form."""
    return {"dryRun": serializers.ChoiceField(["true", "false"], required=False)}


def read_dry_run(request: Request) -> bool:
    """The field `dryRun` of a form, else the query parameter. Raises FieldError."""
    text = request.data.get("dryRun") or request.query_params.get("dryRun") or "false"
    if text not in {"true", "false"}:
        raise FieldError("dryRun", NOT_A_BOOLEAN)
    return bool(text == "true")


_CLIENT_ID = "The id of this import, which the client chooses: with it, the import can be watched while it runs."
CLIENT_ID = OpenApiParameter("id", CLIENT_ID_SCHEMA, description=_CLIENT_ID)


def client_id_field() -> dict[str, AnyField]:
    """The same as a field of a form."""
    return {"id": ClientIdField(required=False, help_text=_CLIENT_ID)}


def read_client_id(request: Request) -> UUID | None:
    """The field `id` of a form, else the query parameter. Raises FieldError."""
    text = request.data.get("id", request.query_params.get("id"))
    key = parse_client_id(text)
    if text is not None and key is None:
        raise FieldError("id", NOT_A_CLIENT_ID)
    return key


_MAX_GROUPS = 1_000
_MAX_LIST_LENGTH = 50_000


def read_joined_groups(request: Request, owner: User) -> list[UUID]:
    """The ids of the groups that everybody of an uploaded file joins.

    They are a JSON list in the field `groupIds` of a form, or have commas between them in the query parameter of that
    name. Raises FieldError for what is no list, and for an id that is none of an active group of the account.
    """
    text = request.data.get("groupIds", "")
    if not isinstance(text, str) or len(text) > _MAX_LIST_LENGTH:
        raise FieldError("groupIds", NOT_A_LIST)
    named = _read_list(text) if text.strip() else request.query_params.get("groupIds", "").split(",")
    texts = [part.strip() if isinstance(part, str) else part for part in named if part != ""]
    if len(texts) > _MAX_GROUPS:
        raise FieldError("groupIds", NOT_A_LIST)
    keys = [parse_id(part) for part in texts]
    found = set(Group.objects.owned_by(owner).active().filter(pk__in=filter(None, keys)).values_list("pk", flat=True))
    for index, key in enumerate(keys):
        if key not in found:
            raise FieldError(f"groupIds.{index}", NO_SUCH_RECORD)
    return list(dict.fromkeys(key for key in keys if key))


def _read_list(text: str) -> list[object]:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        raise FieldError("groupIds", NOT_A_LIST) from None
    if not isinstance(value, list):
        raise FieldError("groupIds", NOT_A_LIST)
    return value
