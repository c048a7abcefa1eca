"""The routes of photos of people and of the account: upload, delete, read, convert HEIC."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.decorators import (
    excluded_from_batches,
    if_match,
    ignores_idempotency_key,
    in_own_transactions,
    not_in_atomic_batches,
    sends_etag,
)
from accounts.api.viewsets import SettingsViewSet, TrashViewSet
from contacts_project.kernel.api.body_limit import PHOTO_LIMIT
from contacts_project.kernel.api.etags import if_none_match_tags, revalidating
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import FieldError, MissingError
from contacts_project.kernel.json import Representation
from contacts_project.kernel.ownership.models import TrashQuerySet
from contacts_project.kernel.texts import define_text
from people.api.person_serializer import PersonSerializer
from people.api.uploads import uploaded_file
from people.models import Person
from people.photos.containers import PictureRefusedError
from people.photos.files import read_photo
from people.photos.images import convert_heif
from people.photos.names import photo_hash
from people.projection.people import represent_any_person
from people.services import photos as service

_DELETED = define_text("photo_deleted", "The photo was deleted.")

_NO_PICTURE = define_text("no_picture", "Send the picture as the file field photo of a multipart/form-data body.")
_PICTURE_TOO_LARGE = define_text("picture_too_large", "The picture is too large: at most %(limit)s MiB.")


class PictureUpload(serializers.Serializer[Any]):
    """The multipart body: one file, field `photo`."""

    photo = serializers.FileField()


_STORED = envelope("PhotoStored", photo=serializers.CharField(help_text="The stored file name."))
_MESSAGE = envelope("PhotoDeleted", message=serializers.CharField())
_VERSION = OpenApiParameter(
    "v",
    OpenApiTypes.STR,
    description="The stored file name (`photo`). If it is the current one, the response is immutable.",
)
_JPEG = {(200, "image/jpeg"): OpenApiResponse(OpenApiTypes.BINARY, description="The picture.")}


def _read_picture(request: Request) -> bytes:
    """The bytes of the file `photo`. Raises FieldError, PayloadTooLargeError."""
    file = uploaded_file(
        request,
        "photo",
        max_bytes=settings.MAX_PHOTO_BYTES,
        missing=_NO_PICTURE,
        too_large=_PICTURE_TOO_LARGE.format(limit=settings.MAX_PHOTO_BYTES >> 20),
    )
    content: bytes = file.read()
    return content


class _PersonPhotoBase(TrashViewSet[Person]):
    """Base of the routes of people's photos; reads only the photo column of a person."""

    model = Person
    lookup_url_kwarg = "person_id"
    body_limit = PHOTO_LIMIT
    parser_classes = (MultiPartParser,)

    def get_queryset(self) -> TrashQuerySet[Person]:
        return super().get_queryset().only("owner_id", "photo")


class PersonPhotoViewSet(_PersonPhotoBase):
    """The photo of one own, active person, whose ETag changes with it."""

    record_serializer = PersonSerializer

    def get_record(self, row_id: UUID) -> Representation:
        return represent_any_person(self.owner, row_id)

    @extend_schema(
        operation_id="setPersonPhoto", request={"multipart/form-data": PictureUpload}, responses={200: _STORED}
    )
    @action(detail=True, methods=["post"], url_path="photo")
    @excluded_from_batches
    @in_own_transactions
    @sends_etag
    @if_match
    def set_photo(self, request: Request, person_id: UUID) -> Response:
        """Set the person's photo: JPEG, PNG, GIF or WebP in, stored as JPEG of 256x256 without metadata."""
        person, picture = self.get_object(), _read_picture(request)
        with _refusals_as_field_errors():
            name = service.set_person_photo(
                owner_id=person.owner_id, person_id=person.pk, picture=picture, now=timezone.now()
            )
        return Response({"photo": name}, headers={"ETag": self.get_record(person.pk).etag})

    @extend_schema(operation_id="deletePersonPhoto", responses={200: _MESSAGE})
    @set_photo.mapping.delete
    @sends_etag
    @if_match
    @not_in_atomic_batches
    def remove_photo(self, request: Request, person_id: UUID) -> Response:
        """Remove the person's photo."""
        person = self.get_object()
        service.remove_person_photo(owner_id=person.owner_id, person_id=person.pk, now=timezone.now())
        return Response({"message": _DELETED}, headers={"ETag": self.get_record(person.pk).etag})


class UserPhotoViewSet(SettingsViewSet):
    """The account's own photo."""

    body_limit = PHOTO_LIMIT
    parser_classes = (MultiPartParser,)

    @extend_schema(
        operation_id="setUserPhoto", request={"multipart/form-data": PictureUpload}, responses={200: _STORED}
    )
    @action(detail=False, methods=["post"], url_path="photo")
    @excluded_from_batches
    @in_own_transactions
    @sends_etag
    @if_match
    def set_photo(self, request: Request) -> Response:
        """Set the account's own photo, as for a person."""
        picture = _read_picture(request)
        with _refusals_as_field_errors():
            name = service.set_user_photo(user=self.owner, picture=picture)
        return Response({"photo": name}, headers={"ETag": self.current_record().etag})

    @extend_schema(operation_id="deleteUserPhoto", responses={200: _MESSAGE})
    @set_photo.mapping.delete
    @sends_etag
    @if_match
    @not_in_atomic_batches
    def remove_photo(self, request: Request) -> Response:
        """Remove the account's own photo."""
        service.remove_user_photo(user=self.owner)
        return Response({"message": _DELETED}, headers={"ETag": self.current_record().etag})


class PhotoViewSet(_PersonPhotoBase):
    """Photo files: read and convert."""

    @extend_schema(operation_id="getPersonPhoto", parameters=[_VERSION], responses=_JPEG)
    @revalidating
    @excluded_from_batches
    def retrieve(self, request: Request, person_id: UUID) -> HttpResponse:
        """The person's photo. Strong ETag; 404 where there is none."""
        return _photo_response(request, self.get_object().photo)

    @extend_schema(operation_id="getUserPhoto", parameters=[_VERSION], responses=_JPEG)
    @action(detail=False)
    @raises(MissingError)
    @revalidating
    @excluded_from_batches
    def user(self, request: Request) -> HttpResponse:
        """The account's own photo. Strong ETag; 404 where there is none."""
        return _photo_response(request, self.owner.photo)

    @extend_schema(operation_id="convertPhoto", request={"multipart/form-data": PictureUpload}, responses=_JPEG)
    @action(detail=False, methods=["post"])
    @excluded_from_batches
    @ignores_idempotency_key
    def convert(self, request: Request) -> HttpResponse:
        """Convert a HEIC or HEIF picture to JPEG of the same size, without metadata. Nothing is stored."""
        picture = _read_picture(request)
        with _refusals_as_field_errors():
            return HttpResponse(convert_heif(picture), content_type="image/jpeg")


@contextmanager
def _refusals_as_field_errors() -> Iterator[None]:
    try:
        yield
    except PictureRefusedError as error:
        raise FieldError("photo", error.text) from None


def _photo_response(request: Request, name: str | None) -> HttpResponse:
    """The stored file, or 304. The ETag is the hash in the file name, so 304 needs no access to the storage."""
    if not name:
        raise MissingError
    etag = f'"{photo_hash(name)}"'
    if {etag, "*"} & if_none_match_tags(request):
        response = HttpResponse(status=304)
    else:
        content = read_photo(name)
        if content is None:
            raise MissingError
        response = HttpResponse(content, content_type="image/jpeg")
    response["ETag"] = etag
    # Another photo has another name, so the bytes at the URL with this name never change.
    is_current = request.query_params.get("v") == name
    response["Cache-Control"] = "private, max-age=31536000, immutable" if is_current else "private, no-cache"
    return response
