"""Routes of shares, all below /api/."""

from rest_framework.routers import SimpleRouter

from accounts.api.views.changes import describe_changes
from contacts_project.kernel.api.errors import register_failures
from sharing.api.errors import FAILURES
from sharing.api.invitations import InvitationsOfShareViewSet, ReceivedInvitationViewSet
from sharing.api.shares import ShareConflictSerializer, ShareSerializer, ShareViewSet
from sharing.models import ShareConflict, ShareMembership

register_failures(FAILURES)
describe_changes({ShareMembership: ShareSerializer, ShareConflict: ShareConflictSerializer})

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("shares", ShareViewSet, basename="share")
router.register("shares", InvitationsOfShareViewSet, basename="share-invitations-of-host")
router.register("share-invitations", ReceivedInvitationViewSet, basename="share-invitation")

urlpatterns = router.urls
