"""Routes of carddav, all below /api/."""

from rest_framework.routers import SimpleRouter

from carddav.api.conflicts import ConflictViewSet
from carddav.api.connection import ConnectionViewSet
from carddav.api.errors import FAILURES
from carddav.api.exports import ExportViewSet
from carddav.api.held_back import HeldBackViewSet
from carddav.api.pending_imports import PendingImportViewSet, UploadViewSet
from carddav.api.sync import CronViewSet, SyncViewSet, UndoViewSet
from contacts_project.kernel.api.errors import register_failures

register_failures(FAILURES)

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("vcard/upload", UploadViewSet, basename="vcard-upload")
router.register("carddav/conflicts", ConflictViewSet, basename="conflict")
router.register("carddav/held-back", HeldBackViewSet, basename="held-back")
router.register("carddav/runs", UndoViewSet, basename="run")
router.register("carddav", ConnectionViewSet, basename="carddav-connection")
router.register("carddav", ExportViewSet, basename="carddav-export")
router.register("carddav", PendingImportViewSet, basename="pending-import")
router.register("carddav", SyncViewSet, basename="sync")
router.register("cron", CronViewSet, basename="cron")

urlpatterns = router.urls
