"""The routes of vCard: import a file, export all people.

A file is a text/vcard body, or `file` of a form.
"""

import io
from collections.abc import Iterator
from itertools import chain, islice
from typing import IO, Any, BinaryIO

from django.conf import settings
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.parsers import BaseParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.decorators import excluded_from_batches, in_own_transactions
from accounts.api.viewsets import ApiViewSet
from contacts_project.kernel.api.body_limit import VCARD_LIMIT
from contacts_project.kernel.api.etags import conditional
from contacts_project.kernel.api.schema import AnyField, RemarkSerializer, raises
from contacts_project.kernel.errors import FieldError, PlanLimitError
from contacts_project.kernel.json import JsonMapping, JsonObject
from contacts_project.kernel.ownership.client_ids import IdTakenError
from contacts_project.kernel.text_forms import NOT_A_CHOICE
from contacts_project.kernel.texts import define_text
from people.api.person_query import read_ids
from people.api.uploads import (
    CLIENT_ID,
    DRY_RUN,
    FILE_TOO_LARGE,
    JOINED_GROUPS,
    REMIND,
    client_id_field,
    dry_run_field,
    joined_groups_field,
    read_client_id,
    read_dry_run,
    read_joined_groups,
    read_remind,
    remind_field,
    uploaded_file,
)
from people.contents.contact import export_cards
from people.importing.receipts import ERROR, IMPORTED, SKIPPED, UPDATED
from people.importing.runs import VCardImport, place_for_import
from people.services.plan_limits import limit_error
from people.vcard import VERSIONS, CardResult, read_cards
from people.vcard.files import OUTSIDE_CARD, split_cards

_NO_FILE = define_text("no_vcard_file", "A vCard file is needed.")

_TOO_MANY_CARDS = define_text("too_many_cards", "the file has more than %(limit)s cards")
_NO_CARD = define_text("no_vcard", "There is no vCard in this file.")

#: Cards after this number are not read.
MAX_CARDS = 20_000


class VCardParser(BaseParser):
    """A vCard file as the body."""

    media_type = "text/vcard"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: JsonMapping | None = None
    ) -> dict[str, BinaryIO]:
        return {"file": io.BytesIO(stream.read())}


class OldVCardParser(VCardParser):
    """The media type of older programs."""

    media_type = "text/x-vcard"


class DirectoryParser(VCardParser):
    """The media type of RFC 2425."""

    media_type = "text/directory"


PARSERS = [VCardParser, OldVCardParser, DirectoryParser, MultiPartParser]


def read_uploaded_cards(request: Request) -> tuple[Iterator[CardResult], str]:
    """The cards of the uploaded file, and its name, which is empty if the file is the body.

    Raises FieldError if there is no card, PayloadTooLargeError.
    """
    file = uploaded_file(
        request,
        "file",
        max_bytes=settings.MAX_VCARD_BYTES,
        missing=_NO_FILE,
        too_large=FILE_TOO_LARGE.format(limit=settings.MAX_VCARD_BYTES),
    )
    cards = limit_cards(read_cards(file, charset=_declared_charset(request, file)))
    # The first cards are read here, so that a file without cards is refused before the import begins.
    start = list(islice(cards, 2))
    if not start or (len(start) == 1 and start[0].error == OUTSIDE_CARD):
        raise FieldError("file", _NO_CARD)
    return chain(start, cards), getattr(file, "name", "") or ""


def count_uploaded_cards(request: Request) -> int:
    """How many results `read_uploaded_cards` yields. Where the file is read on stays."""
    file = request.data["file"]
    position = file.tell()
    file.seek(0)
    number = sum(1 for _ in islice(split_cards(file), MAX_CARDS + 1))
    file.seek(position)
    return number


def limit_cards(cards: Iterator[CardResult]) -> Iterator[CardResult]:
    """At most MAX_CARDS cards, followed by an error result if there are more."""
    for card in cards:
        if card.index >= MAX_CARDS:
            yield CardResult(index=card.index, name="", error=_TOO_MANY_CARDS.format(limit=MAX_CARDS))
            return
        yield card


def _declared_charset(request: Request, file: object) -> str | None:
    """The charset in the Content-Type of the form's file, else of the body."""
    extra = getattr(file, "content_type_extra", None) or {}
    charset = extra.get("charset") or (request._request.content_params or {}).get("charset")
    return charset.decode("ascii", "replace") if isinstance(charset, bytes) else charset


class CardOutcomeSerializer(serializers.Serializer[Any]):
    """What became of one card."""

    optional = ("personId", "reason", "code", "params", "remarks")

    index = serializers.IntegerField(help_text="Position of the card in the file, from 0.")
    name = serializers.CharField(allow_blank=True)
    status = serializers.ChoiceField([IMPORTED, UPDATED, SKIPPED, ERROR])
    personId = serializers.UUIDField(allow_null=True, help_text="Null for who would be new, in a dry run.")
    reason = serializers.CharField(help_text="The first remark, in the account's language.")
    code = serializers.CharField(help_text="Of the first remark.")
    params = serializers.DictField(help_text="The values in the first remark.")
    remarks = RemarkSerializer(many=True, help_text="All remarks, where there are several.")


def receipt_fields() -> dict[str, AnyField]:
    """The fields of an import's receipt."""
    return {
        "success": serializers.BooleanField(),
        "imported": serializers.IntegerField(),
        "updated": serializers.IntegerField(),
        "skipped": serializers.IntegerField(),
        "errors": serializers.IntegerField(),
        "errorMessages": serializers.ListField(child=serializers.CharField()),
        "results": CardOutcomeSerializer(many=True),
    }


def import_receipt_fields() -> dict[str, AnyField]:
    """The fields of the receipt of an import that can be undone."""
    return {
        **receipt_fields(),
        "birthdays": serializers.IntegerField(help_text="How many birthdays it brings."),
        "reminders": serializers.IntegerField(help_text="How many important dates that it brings have a reminder."),
        "importId": serializers.UUIDField(
            allow_null=True, help_text="Undoes the import. Null in a dry run, and if the file has changed nothing."
        ),
    }


RECEIPT = inline_serializer("VCardReceipt", receipt_fields())
IMPORT_RECEIPT = inline_serializer("VCardImportReceipt", import_receipt_fields())


def _describe_body(name: str, **fields: AnyField) -> JsonObject:
    """For `extend_schema(request=...)`."""
    form = inline_serializer(name, {"file": serializers.FileField(), **fields})
    return {"multipart/form-data": form, "text/vcard": {"type": "string", "format": "binary"}}


FILE_BODY = _describe_body("VCardFile")
IMPORT_BODY = _describe_body(
    "VCardImportFile", **client_id_field(), **joined_groups_field(), **remind_field(), **dry_run_field()
)


class VCardViewSet(ApiViewSet[Any]):
    """Import and export of vCard files."""

    @extend_schema(
        operation_id="importVCards",
        parameters=[CLIENT_ID, JOINED_GROUPS, REMIND, DRY_RUN],
        request=IMPORT_BODY,
        responses=IMPORT_RECEIPT,
    )
    @action(detail=False, methods=["post"], url_path="import", parser_classes=PARSERS, body_limit=VCARD_LIMIT)
    @raises(PlanLimitError, IdTakenError)
    @excluded_from_batches
    @in_own_transactions
    def import_file(self, request: Request) -> Response:
        """Import a vCard file (2.1, 3.0, 4.0). Running it again changes nothing; `importId` undoes it. A dry run says
        what would happen."""
        import_id = read_client_id(request)
        with place_for_import(self.owner, import_id):
            cards, file_name = read_uploaded_cards(request)
            group_ids = read_joined_groups(request, self.owner)
            is_dry = read_dry_run(request)
            run = VCardImport(
                owner=self.owner,
                file_name=file_name,
                now=timezone.now(),
                group_ids=group_ids,
                remind=read_remind(request),
                import_id=import_id,
                is_dry=is_dry,
            )
            list(run.run(cards, 0 if is_dry else count_uploaded_cards(request)))
        # If only some are refused, the receipt reports it for each of them.
        if run.is_refused_by_plan:
            raise limit_error(self.owner, "people")
        return Response(run.receipt())

    @extend_schema(
        operation_id="exportVCards",
        parameters=[
            OpenApiParameter("version", str, enum=VERSIONS, description="4.0 when left out."),
            OpenApiParameter("personIds", str, description="Comma-separated: only these people."),
        ],
        responses={(200, "text/vcard"): OpenApiResponse(OpenApiTypes.STR, description="One card a person.")},
    )
    @action(detail=False)
    @conditional
    @excluded_from_batches
    def export(self, request: Request) -> HttpResponseBase:
        """All own people, or some of them, as vCard 4.0 or 3.0."""
        version = request.query_params.get("version", "4.0")
        if version not in VERSIONS:
            raise FieldError("version", NOT_A_CHOICE.format(choices=list(VERSIONS)))
        person_ids = read_ids(request.query_params, "personIds")
        cards = export_cards(owner=self.owner, version=version, person_ids=person_ids)
        response = StreamingHttpResponse(cards, content_type="text/vcard; charset=utf-8")
        response["Content-Disposition"] = 'attachment; filename="contacts.vcf"'
        return response
