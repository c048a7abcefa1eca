"""Routes of shares, all below /api/."""

from rest_framework.routers import SimpleRouter

from accounts.api.views.changes import describe_changes
from contacts_project.kernel.api.errors import register_failures
from sharing.api.conflicts import ConflictsOfShareViewSet, ShareConflictViewSet
from sharing.api.errors import FAILURES
from sharing.api.invitations import InvitationsOfShareViewSet, ReceivedInvitationViewSet
from sharing.api.log import LogViewSet
from sharing.api.shares import ShareConflictSerializer, ShareSerializer, ShareViewSet
from sharing.api.waiting import WaitingViewSet
from sharing.models import ShareConflict, ShareMembership

register_failures(FAILURES)
describe_changes({ShareMembership: ShareSerializer, ShareConflict: ShareConflictSerializer})

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("shares", ShareViewSet, basename="share")
router.register("shares", InvitationsOfShareViewSet, basename="share-invitations-of-host")
router.register("share-invitations", ReceivedInvitationViewSet, basename="share-invitation")
router.register("shares", WaitingViewSet, basename="share-waiting")
router.register("shares", ConflictsOfShareViewSet, basename="share-conflicts")
router.register("shares", LogViewSet, basename="share-log")
router.register("share-conflicts", ShareConflictViewSet, basename="share-conflict")

urlpatterns = router.urls
