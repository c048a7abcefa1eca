"""Routes of groups, custom fields, photos, the trash and the map."""

from django.urls import URLPattern, URLResolver, path
from rest_framework.routers import SimpleRouter

from people.api import photos
from people.api.custom_templates import CustomFieldTemplateViewSet
from people.api.deleted import DeletedView
from people.api.groups import GroupViewSet
from people.api.map import MapMarkersView

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("groups", GroupViewSet, basename="group")
_template = "custom-field-templates/<str:template_id>"

urlpatterns: list[URLPattern | URLResolver] = [
    *router.urls,
    path("custom-field-templates", CustomFieldTemplateViewSet.as_view({"get": "read_all", "post": "create"})),
    path("custom-field-templates/reorder", CustomFieldTemplateViewSet.as_view({"put": "reorder"})),
    path(_template, CustomFieldTemplateViewSet.as_view({"get": "read", "put": "update", "delete": "destroy"})),
    path(f"{_template}/restore", CustomFieldTemplateViewSet.as_view({"post": "restore"})),
    path(f"{_template}/permanent", CustomFieldTemplateViewSet.as_view({"delete": "permanent"})),
    path("deleted", DeletedView.as_view()),
    path("map/markers", MapMarkersView.as_view()),
    path("people/<str:person_id>/photo", photos.PersonPhotoView.as_view()),
    path("photos/convert", photos.ConvertPhotoView.as_view()),
    path("photos/user", photos.ReadUserPhotoView.as_view()),
    path("photos/<str:person_id>", photos.ReadPersonPhotoView.as_view()),
    path("user/photo", photos.UserPhotoView.as_view()),
]
