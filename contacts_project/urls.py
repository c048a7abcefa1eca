"""All routes. Paths carry no trailing slash."""

from django.contrib import admin
from django.urls import include, path
from rest_framework.routers import SimpleRouter

import dav.urls
from contacts_project.mcp.views import McpViewSet
from contacts_project.operation.metrics import metrics
from contacts_project.operation.views import DocsView, HealthViewSet, InstanceViewSet, OpenAPIViewSet, VersionViewSet
from contacts_project.pages.home import home_page
from contacts_project.pages.labels import labels_page
from contacts_project.pages.web_client import WELL_KNOWN_ICONS, person_link, web_client, well_known_icon
from dav.views import with_dav_methods
from notifications.api.calendar_feeds import calendar_file

handler400 = "contacts_project.kernel.api.errors.bad_request"
handler403 = "contacts_project.kernel.api.errors.forbidden"
handler404 = "contacts_project.kernel.api.errors.not_found"
handler500 = "contacts_project.kernel.api.errors.server_error"

operation = SimpleRouter(trailing_slash=False, use_regex_path=False)
operation.register("health", HealthViewSet, basename="health")
operation.register("instance", InstanceViewSet, basename="instance")
operation.register("version", VersionViewSet, basename="version")

urlpatterns = [
    path("", with_dav_methods(home_page)),
    # Before the others, which phones never ask for: for these it is one comparison more.
    dav.urls.tree,
    path("app", web_client),
    path("app/<path:path>", web_client),
    path("app/", web_client),
    *(path(name, well_known_icon, {"name": icon}) for name, icon in WELL_KNOWN_ICONS.items()),
    path("people/labels", labels_page),
    path("people/<str:person_id>", person_link),
    # Django tries them in order, so the most used ones come first. Except relationships, whose people/bulk must come
    # before people/<id>, which would match it.
    path("api/", include("relationships.api.urls")),
    path("api/", include("people.api.urls")),
    path("api/", include("notifications.api.urls")),
    path("api/", include("accounts.api.urls")),
    path("api/", include("carddav.api.urls")),
    path("api/", include("meetings.api.urls")),
    path("api/", include("sharing.api.urls")),
    path("api/", include("dav.api.urls")),
    path("api/", include(operation.urls)),
    path("api/openapi.json", OpenAPIViewSet.as_view({"get": "list"}), name="openapi"),
    path("api/docs", DocsView.as_view()),
    path("mcp", McpViewSet.as_view({"post": "create"})),
    path("calendar/<str:secret>.ics", calendar_file),
    path("metrics", metrics),
    path("account/", include("accounts.pages.urls")),
    path("", include("dav.urls")),
    path("admin/", admin.site.urls),
]
