"""Routes about the service itself, below /api/."""

from django.urls import path
from rest_framework.routers import SimpleRouter

from contacts_project.operation.views import DocsView, HealthViewSet, InstanceViewSet, OpenAPIViewSet, VersionViewSet

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("health", HealthViewSet, basename="health")
router.register("instance", InstanceViewSet, basename="instance")
router.register("version", VersionViewSet, basename="version")

urlpatterns = [
    *router.urls,
    path("openapi.json", OpenAPIViewSet.as_view({"get": "list"}), name="openapi"),
    path("docs", DocsView.as_view()),
]
