"""Reads vCard files from requests (a text/vcard body, or `file` of a form), and describes the receipt."""

import io
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import IO, Any, BinaryIO

from django.conf import settings
from drf_spectacular.utils import inline_serializer
from rest_framework import serializers
from rest_framework.parsers import BaseParser, MultiPartParser
from rest_framework.request import Request

from contacts_project.kernel.errors import FieldError
from people.api.uploads import uploaded_file
from people.importing.receipts import ERROR, IMPORTED, SKIPPED, UPDATED
from people.vcard import CardResult, read_cards

#: Cards after this number are not read.
MAX_CARDS = 20_000


class VCardParser(BaseParser):
    """A vCard file as the body."""

    media_type = "text/vcard"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, BinaryIO]:
        return {"file": io.BytesIO(stream.read())}


class OldVCardParser(VCardParser):
    """The media type of older programs."""

    media_type = "text/x-vcard"


class DirectoryParser(VCardParser):
    """The media type of RFC 2425."""

    media_type = "text/directory"


PARSERS = [VCardParser, OldVCardParser, DirectoryParser, MultiPartParser]


def read_uploaded_cards(request: Request) -> Iterator[CardResult]:
    """The cards of the uploaded file. Raises FieldError if it has none, PayloadTooLargeError."""
    file = uploaded_file(
        request,
        "file",
        max_bytes=settings.MAX_VCARD_BYTES,
        missing="A vCard file is needed.",
        too_large=f"The file is too large: at most {settings.MAX_VCARD_BYTES} bytes.",
    )
    cards = limit_cards(read_cards(file, charset=_declared_charset(request, file)))
    # The first card is read here, so that a file without cards is refused before the import begins.
    first = next(cards, None)
    if first is None:
        raise FieldError("file", "There is no vCard in this file.")
    return chain([first], cards)


def limit_cards(cards: Iterator[CardResult]) -> Iterator[CardResult]:
    """At most MAX_CARDS cards, followed by an error result if there are more."""
    for card in cards:
        if card.index >= MAX_CARDS:
            yield CardResult(index=card.index, name="", error=f"the file has more than {MAX_CARDS:,} cards")
            return
        yield card


def _declared_charset(request: Request, file: Any) -> str | None:
    """The charset in the Content-Type of the form's file, else of the body."""
    extra = getattr(file, "content_type_extra", None) or {}
    charset = extra.get("charset") or (request._request.content_params or {}).get("charset")
    return charset.decode("ascii", "replace") if isinstance(charset, bytes) else charset


class CardOutcomeSerializer(serializers.Serializer[Any]):
    """What became of one card."""

    optional = ("personId", "reason")

    index = serializers.IntegerField(help_text="Position of the card in the file, from 0.")
    name = serializers.CharField(allow_blank=True)
    status = serializers.ChoiceField([IMPORTED, UPDATED, SKIPPED, ERROR])
    personId = serializers.UUIDField()
    reason = serializers.CharField()


def receipt_fields() -> "dict[str, serializers.Field[Any, Any, Any, Any]]":
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


RECEIPT = inline_serializer("VCardReceipt", receipt_fields())
_FORM = inline_serializer("VCardFile", {"file": serializers.FileField()})
#: For `extend_schema(request=...)`.
FILE_BODY: dict[str, Any] = {
    "multipart/form-data": _FORM,
    "text/vcard": {"type": "string", "format": "binary"},
}
