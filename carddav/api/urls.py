"""Routes of carddav, all below /api/."""

from rest_framework.routers import SimpleRouter

from carddav.api.backup import BackupViewSet
from carddav.api.conflicts import ConflictViewSet
from carddav.api.connection import ConnectionViewSet
from carddav.api.cron import CronViewSet
from carddav.api.errors import FAILURES
from carddav.api.held_back import HeldBackViewSet
from carddav.api.import_export import ImportExportViewSet
from carddav.api.pending_imports import PendingImportViewSet, UploadViewSet
from carddav.api.sync import SyncViewSet
from carddav.api.undo import UndoViewSet
from contacts_project.kernel.api.errors import register_failures

register_failures(FAILURES)

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("vcard/upload", UploadViewSet, basename="vcard-upload")
router.register("carddav/conflicts", ConflictViewSet, basename="conflict")
router.register("carddav/held-back", HeldBackViewSet, basename="held-back")
router.register("carddav/runs", UndoViewSet, basename="run")
router.register("carddav", ConnectionViewSet, basename="carddav-connection")
router.register("carddav", BackupViewSet, basename="carddav-backup")
router.register("carddav", PendingImportViewSet, basename="pending-import")
router.register("carddav", SyncViewSet, basename="sync")
router.register("carddav", ImportExportViewSet, basename="carddav-import-export")
router.register("cron", CronViewSet, basename="cron")

urlpatterns = router.urls
