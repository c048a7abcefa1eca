"""Routes about the service: health, version, OpenAPI and its interactive docs."""

from functools import cache
from threading import Lock
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BooleanField, CharField, ChoiceField, IntegerField, ListField

from accounts.api.decorators import reads_one_record
from accounts.api.views.oidc import ProviderSerializer, sign_in_providers
from accounts.api.viewsets import ApiViewSet, OpenViewSet
from contacts_project.kernel.api.errors import error_response
from contacts_project.kernel.api.schema import envelope
from contacts_project.kernel.errors import UnavailableError
from contacts_project.kernel.json import dumps
from contacts_project.kernel.languages import CODES
from contacts_project.kernel.texts import define_text
from contacts_project.operation.health import Health, base_url_is_loopback, check_health
from notifications.channels.push import is_configured as has_push_keys

_UNFIT = define_text("unfit", "A part of the service is not fit: see checks.")

_CHECKS = envelope(
    "HealthChecks",
    database=CharField(),
    migrations=CharField(
        help_text="`ok`; `failed` if the tables are of an older version than the program, `newer` if of a newer one."
    ),
    broker=CharField(),
    disk=CharField(),
    photos=CharField(help_text="The object store, where photos are in one; it makes nothing unfit."),
    proxy=CharField(
        help_text="`uncounted` if requests of the last day carried X-Forwarded-For while TRUSTED_PROXY_COUNT is 0; it "
        "makes nothing unfit."
    ),
    scheduler=envelope(
        "SchedulerHealth",
        status=CharField(
            help_text="`ok`; without a due scan `late` from 90 seconds on, `failed` from five minutes on."
        ),
        lagSeconds=IntegerField(allow_null=True),
    ),
)
_STATUS = ChoiceField(choices=[*Health])
HEALTH = envelope("Health", status=_STATUS, checks=_CHECKS)
UNFIT = envelope("HealthUnfit", error=CharField(), code=CharField(), status=_STATUS, checks=_CHECKS)


class VersionViewSet(ApiViewSet[Any]):
    @reads_one_record
    @extend_schema(operation_id="getVersion", responses=envelope("Version", version=CharField()))
    def list(self, request: Request) -> Response:
        """The version of the running service."""
        return Response({"version": settings.VERSION})


_INSTANCE = envelope(
    "Instance",
    version=CharField(),
    baseUrl=CharField(
        allow_null=True, help_text="Where devices reach this instance; null: BASE_URL is of this machine alone."
    ),
    registration=ChoiceField(["open", "first", "closed"], help_text="`first`: only the first account."),
    emailVerification=ChoiceField(["optional", "mandatory"]),
    providers=ProviderSerializer(many=True),
    push=BooleanField(help_text="Whether browsers can subscribe."),
    mail=BooleanField(help_text="Whether mails leave this instance; false: they are printed, or written to a file."),
    geocoding=BooleanField(),
    mapTilesUrl=CharField(allow_null=True, help_text="With `{z}`, `{x}` and `{y}`; null: the map has no tiles."),
    mapTilesAttribution=CharField(allow_null=True, help_text="Whom to name as their source."),
    languages=ListField(child=CharField()),
    maxPhotoBytes=IntegerField(),
    maxImportBytes=IntegerField(),
)


#: Django's mail backends that send nothing to a server.
_KEPT_MAIL = {"console", "dummy", "filebased"}


class InstanceViewSet(OpenViewSet):
    @extend_schema(operation_id="getInstance", responses=_INSTANCE)
    def list(self, request: Request) -> Response:
        """What a client needs to know of this instance before anybody signs in."""
        return Response(
            {
                "version": settings.VERSION,
                "baseUrl": None if base_url_is_loopback() else settings.BASE_URL,
                "registration": settings.REGISTRATION,
                "emailVerification": settings.EMAIL_VERIFICATION,
                "providers": sign_in_providers(),
                "push": has_push_keys(),
                "mail": settings.EMAIL_BACKEND.rpartition(".")[0].rpartition(".")[2] not in _KEPT_MAIL,
                "geocoding": bool(settings.GEOCODER_URL),
                "mapTilesUrl": settings.MAP_TILES_URL or None,
                "mapTilesAttribution": settings.MAP_TILES_ATTRIBUTION if settings.MAP_TILES_URL else None,
                "languages": CODES,
                "maxPhotoBytes": settings.MAX_PHOTO_BYTES,
                "maxImportBytes": settings.MAX_IMPORT_BYTES,
            }
        )


class HealthViewSet(OpenViewSet):
    @extend_schema(operation_id="getHealth", responses={200: HEALTH, 503: UNFIT})
    def list(self, request: Request) -> Response:
        """Whether the service is fit to serve: 200 `ok`, or `degraded` while reminders are late; else 503 `unfit`."""
        status, checks = check_health(timezone.now())
        if status is not Health.UNFIT:
            return Response({"status": status, "checks": checks})
        response = error_response(UnavailableError(_UNFIT))
        response.data = {**response.data, "status": status, "checks": checks}
        return response


class OpenAPIViewSet(OpenViewSet):
    """The API described as OpenAPI 3.1."""

    @extend_schema(exclude=True)
    def list(self, request: Request) -> HttpResponse:
        return HttpResponse(description(), content_type="application/json")


# drf-spectacular's look-up of extensions is not thread-safe: concurrent calls raise AttributeError.
_description_lock = Lock()


def description() -> bytes:
    """The API description as JSON."""
    with _description_lock:
        return _description()


@cache
def _description() -> bytes:
    """Cached per process: building it takes a second, and anybody may request it."""
    import contacts_project.operation.description  # noqa: F401, PLC0415 - its imports are needed here only

    generator: Any = SchemaGenerator
    return dumps(generator().get_schema(request=None, public=True))


class DocsView(SpectacularSwaggerSplitView):
    """Interactive docs, all assets served from here; Swagger UI styles its page inline."""

    authentication_classes = []
    permission_classes = [AllowAny]
    url_name = "openapi"

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        response = super().finalize_response(request, response, *args, **kwargs)
        policy = settings.CONTENT_SECURITY_POLICY
        response["Content-Security-Policy"] = policy.replace("style-src", "style-src 'unsafe-inline'")
        return response
