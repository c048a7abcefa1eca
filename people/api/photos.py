"""Photos of people and of the account: upload, removal, reading, conversion of HEIC."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api.callers import caller
from contacts_project.kernel.api.errors import PayloadTooLargeError
from contacts_project.kernel.api.etags import known_tags, revalidating
from contacts_project.kernel.api.ids import parse_id
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import FieldError
from people.models import Person
from people.photos.files import photo_hash, read_photo
from people.photos.images import PictureRefusedError, convert_heif
from people.services import photos as service


class PictureUpload(serializers.Serializer[Any]):
    """The multipart body: one file, field `photo`."""

    photo = serializers.FileField()


_STORED = envelope("PhotoStored", photo=serializers.CharField(help_text="The stored file name."))
_MESSAGE = envelope("PhotoDeleted", message=serializers.CharField())
_JPEG = {(200, "image/jpeg"): OpenApiResponse(OpenApiTypes.BINARY, description="The picture.")}


def uploaded_picture(request: Request) -> bytes:
    """The bytes of the file `photo`. Raises FieldError, PayloadTooLargeError."""
    file = request.data.get("photo")
    if not isinstance(file, UploadedFile):
        raise FieldError("photo", "Send the picture as the file field photo of a multipart/form-data body.")
    if (file.size or 0) > settings.MAX_PHOTO_BYTES:
        raise PayloadTooLargeError(f"The picture is too large: at most {settings.MAX_PHOTO_BYTES >> 20} MiB.")
    content: bytes = file.read()
    return content


class PictureView(APIView):
    """What the views of pictures share."""

    max_body_bytes = "MAX_PHOTO_BYTES"
    parser_classes = [MultiPartParser]


class PersonPhotoView(PictureView):
    """The photo of one own, active person."""

    @extend_schema(
        operation_id="setPersonPhoto", request={"multipart/form-data": PictureUpload}, responses={200: _STORED}
    )
    def post(self, request: Request, person_id: str) -> Response:
        """Set the person's photo: JPEG, PNG, GIF or WebP in, stored as JPEG of 256x256 without metadata."""
        person, picture = _own_person(request, person_id), uploaded_picture(request)
        with _refusals():
            name = service.set_person_photo(
                owner_id=person.owner_id, person_id=person.pk, picture=picture, now=timezone.now()
            )
        return Response({"photo": name})

    @extend_schema(operation_id="deletePersonPhoto", responses={200: _MESSAGE})
    def delete(self, request: Request, person_id: str) -> Response:
        """Remove the person's photo."""
        person = _own_person(request, person_id)
        service.remove_person_photo(owner_id=person.owner_id, person_id=person.pk, now=timezone.now())
        return Response({"message": "The photo was deleted."})


class UserPhotoView(PictureView):
    """The account's own photo."""

    @extend_schema(
        operation_id="setUserPhoto", request={"multipart/form-data": PictureUpload}, responses={200: _STORED}
    )
    def post(self, request: Request) -> Response:
        """Set the account's own photo, as for a person."""
        picture = uploaded_picture(request)
        with _refusals():
            name = service.set_user_photo(user=caller(request), picture=picture)
        return Response({"photo": name})

    @extend_schema(operation_id="deleteUserPhoto", responses={200: _MESSAGE})
    def delete(self, request: Request) -> Response:
        """Remove the account's own photo."""
        service.remove_user_photo(user=caller(request))
        return Response({"message": "The photo was deleted."})


class ReadPersonPhotoView(PictureView):
    """The picture of one own, active person."""

    @extend_schema(operation_id="getPersonPhoto", responses=_JPEG)
    @revalidating
    def get(self, request: Request, person_id: str) -> HttpResponse:
        """The person's photo. Strong ETag; 404 where there is none."""
        return _picture(request, _own_person(request, person_id).photo)


class ReadUserPhotoView(PictureView):
    """The account's own picture."""

    @extend_schema(operation_id="getUserPhoto", responses=_JPEG)
    @raises(NotFound)
    @revalidating
    def get(self, request: Request) -> HttpResponse:
        """The account's own photo. Strong ETag; 404 where there is none."""
        return _picture(request, caller(request).photo)


class ConvertPhotoView(PictureView):
    """HEIC to JPEG, for a crop step that decodes in a browser."""

    @extend_schema(operation_id="convertPhoto", request={"multipart/form-data": PictureUpload}, responses=_JPEG)
    def post(self, request: Request) -> HttpResponse:
        """Convert a HEIC or HEIF picture to JPEG of the same size, without metadata. Nothing is stored."""
        picture = uploaded_picture(request)
        with _refusals():
            return HttpResponse(convert_heif(picture), content_type="image/jpeg")


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except PictureRefusedError as error:
        raise FieldError("photo", str(error)) from None


def _own_person(request: Request, person_id: str) -> Person:
    key = parse_id(person_id)
    people = Person.objects.owned_by(request.user).active()
    person: Person | None = people.filter(pk=key).only("owner_id", "photo").first() if key else None
    if person is None:
        raise Http404
    return person


def _picture(request: Request, name: str | None) -> HttpResponse:
    """The stored file, or 304 by the hash in its name, without opening it."""
    if not name:
        raise Http404
    etag = f'"{photo_hash(name)}"'
    if {etag, "*"} & known_tags(request):
        response = HttpResponse(status=304)
    else:
        content = read_photo(name)
        if content is None:
            raise Http404
        response = HttpResponse(content, content_type="image/jpeg")
    response["ETag"] = etag
    response["Cache-Control"] = "private, no-cache"
    return response
