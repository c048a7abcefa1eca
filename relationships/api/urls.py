"""Routes of relationships, all below /api/."""

from rest_framework.routers import SimpleRouter

from accounts.api.views.changes import describe_changes
from contacts_project.kernel.api.errors import register_failures
from people.api.deleted import describe_deleted
from people.models import RelationshipType
from relationships.api.errors import FAILURES
from relationships.api.response_serializers import RelationshipResponseSerializer, RelationshipTypeResponseSerializer
from relationships.api.views.bulk import BulkViewSet
from relationships.api.views.network import DashboardViewSet, NetworkViewSet
from relationships.api.views.relationships import RelationshipViewSet
from relationships.api.views.suggestions import SuggestionViewSet
from relationships.api.views.types import RelationshipTypeViewSet
from relationships.models import Relationship

register_failures(FAILURES)
describe_changes({RelationshipType: RelationshipTypeResponseSerializer, Relationship: RelationshipResponseSerializer})
describe_deleted(
    {"relationships": RelationshipResponseSerializer, "relationshipTypes": RelationshipTypeResponseSerializer}
)

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("relationships", RelationshipViewSet, basename="relationship")
router.register("relationship-types", RelationshipTypeViewSet, basename="relationship-type")
router.register("relationship-suggestions", SuggestionViewSet, basename="relationship-suggestion")
router.register("people/bulk", BulkViewSet, basename="bulk")
router.register("people", NetworkViewSet, basename="network")
router.register("dashboard", DashboardViewSet, basename="dashboard")

urlpatterns = router.urls
