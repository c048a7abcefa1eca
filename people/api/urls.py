"""Routes of people, all below /api/."""

from django.urls import URLPattern, URLResolver, path

from contacts_project.kernel.api.errors import register_failures
from people.api import catalogue_urls, duplicates, merging
from people.api.errors import FAILURES
from people.api.important_dates import ImportantDateViewSet
from people.api.people import PersonViewSet
from people.api.upcoming import UpcomingView
from people.api.vcard import ExportView, ImportView

_dates = "people/<str:person_id>/important-dates"

register_failures(FAILURES)

urlpatterns: list[URLPattern | URLResolver] = [
    path("people", PersonViewSet.as_view({"get": "read_all", "post": "create"})),
    path("people/search", PersonViewSet.as_view({"get": "search"})),
    path("people/duplicates", duplicates.DuplicateGroupsView.as_view()),
    path("people/duplicates/dismiss", duplicates.DismissDuplicateView.as_view()),
    path("people/merge", merging.MergeView.as_view()),
    path("people/merge/<str:merge_id>/undo", merging.UndoMergeView.as_view()),
    path("people/<str:person_id>/duplicates", duplicates.PersonDuplicatesView.as_view()),
    path("people/search-index", PersonViewSet.as_view({"get": "search_index"})),
    path("people/<str:person_id>", PersonViewSet.as_view({"get": "read_one", "put": "update", "delete": "destroy"})),
    path("people/<str:person_id>/restore", PersonViewSet.as_view({"post": "restore"})),
    path("people/<str:person_id>/permanent", PersonViewSet.as_view({"delete": "permanent"})),
    path(_dates, ImportantDateViewSet.as_view({"get": "read_all", "post": "create"})),
    path(f"{_dates}/<str:date_id>", ImportantDateViewSet.as_view({"put": "update", "delete": "destroy"})),
    path(f"{_dates}/<str:date_id>/restore", ImportantDateViewSet.as_view({"post": "restore"})),
    path(f"{_dates}/<str:date_id>/permanent", ImportantDateViewSet.as_view({"delete": "permanent"})),
    *catalogue_urls.urlpatterns,
    path("vcard/import", ImportView.as_view()),
    path("vcard/export", ExportView.as_view()),
    path("upcoming", UpcomingView.as_view()),
]
