"""Routes of carddav, all below /api/."""

from django.urls import URLPattern, URLResolver, path

from carddav.api.chosen import ExportBulkView, ImportPendingView
from carddav.api.conflicts import ConflictsView, ResolveConflictView
from carddav.api.cron import CronView
from carddav.api.errors import FAILURES
from carddav.api.pending_imports import PendingCountView, PendingImportsView, UploadView
from carddav.api.sync import DiscoverView, RunsView, SyncView
from contacts_project.kernel.api.errors import register_failures

register_failures(FAILURES)

urlpatterns: list[URLPattern | URLResolver] = [
    path("vcard/upload", UploadView.as_view()),
    path("carddav/pending-imports", PendingImportsView.as_view()),
    path("carddav/pending-count", PendingCountView.as_view()),
    path("carddav/sync", SyncView.as_view()),
    path("carddav/runs", RunsView.as_view()),
    path("carddav/discover", DiscoverView.as_view()),
    path("carddav/import", ImportPendingView.as_view()),
    path("carddav/export-bulk", ExportBulkView.as_view()),
    path("carddav/conflicts", ConflictsView.as_view()),
    path("carddav/conflicts/<str:conflict_id>/resolve", ResolveConflictView.as_view()),
    path("cron/carddav-sync", CronView.as_view()),
]
