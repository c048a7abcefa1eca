"""Routes of meetings, all below /api/."""

from rest_framework.routers import SimpleRouter

from accounts.api.views.changes import describe_changes
from contacts_project.kernel.api.errors import register_failures
from meetings.api.errors import FAILURES
from meetings.api.proposals import ProposalInFeedSerializer, ProposalViewSet
from meetings.api.sources import SourceViewSet
from meetings.models import MeetingProposal

register_failures(FAILURES)
describe_changes({MeetingProposal: ProposalInFeedSerializer})

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("calendar-sources", SourceViewSet, basename="calendar-source")
router.register("meeting-proposals", ProposalViewSet, basename="meeting-proposal")

urlpatterns = router.urls
