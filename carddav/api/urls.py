"""Routes of carddav, all below /api/."""

from django.urls import URLPattern, URLResolver, path

from carddav.api.pending_imports import PendingCountView, PendingImportsView, UploadView

urlpatterns: list[URLPattern | URLResolver] = [
    path("vcard/upload", UploadView.as_view()),
    path("carddav/pending-imports", PendingImportsView.as_view()),
    path("carddav/pending-count", PendingCountView.as_view()),
]
