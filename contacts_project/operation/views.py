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
from rest_framework.serializers import CharField, ChoiceField, IntegerField

from accounts.api.viewsets import ApiViewSet, OpenViewSet
from contacts_project.kernel.api.errors import error_response
from contacts_project.kernel.api.json import dumps
from contacts_project.kernel.api.schema import envelope
from contacts_project.kernel.errors import UnavailableError
from contacts_project.operation.health import check_health

_CHECKS = envelope(
    "HealthChecks",
    database=CharField(),
    migrations=CharField(),
    broker=CharField(),
    disk=CharField(),
    photos=CharField(help_text="The object store, where photos are in one; it makes nothing unfit."),
    scheduler=envelope("SchedulerHealth", status=CharField(), lagSeconds=IntegerField(allow_null=True)),
)
_STATUS = ChoiceField(choices=["ok", "unfit"])
HEALTH = envelope("Health", status=_STATUS, checks=_CHECKS)
UNFIT = envelope("HealthUnfit", error=CharField(), code=CharField(), status=_STATUS, checks=_CHECKS)


class VersionViewSet(ApiViewSet[Any]):
    @extend_schema(operation_id="getVersion", responses=envelope("Version", version=CharField()))
    def list(self, request: Request) -> Response:
        """The version of the running service."""
        return Response({"version": settings.VERSION})


class HealthViewSet(OpenViewSet):
    @extend_schema(operation_id="getHealth", responses={200: HEALTH, 503: UNFIT})
    def list(self, request: Request) -> Response:
        """Whether the service is fit to serve: 200, else 503 with the part that is not."""
        fit, checks = check_health(timezone.now())
        if fit:
            return Response({"status": "ok", "checks": checks})
        response = error_response(UnavailableError("A part of the service is not fit: see checks."))
        response.data = {**response.data, "status": "unfit", "checks": checks}
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
