"""Routes of relationships, all below /api/."""

from rest_framework.routers import SimpleRouter

from accounts.api.views.changes import describe_changes
from contacts_project.kernel.api.errors import Failure, register_failures
from people.api.deleted import describe_deleted
from people.models import RelationshipType
from relationships.api.bulk import BulkViewSet
from relationships.api.network import DashboardViewSet, NetworkViewSet
from relationships.api.relationships import RelationshipViewSet
from relationships.api.serializers import RelationshipResponseSerializer, RelationshipTypeResponseSerializer
from relationships.api.suggestions import SuggestionViewSet
from relationships.api.types import RelationshipTypeViewSet
from relationships.models import Relationship
from relationships.services.relationships import PersonDeletedError
from relationships.services.types import TypeInUseError

register_failures({PersonDeletedError: Failure(400, "person_deleted"), TypeInUseError: Failure(400, "in_use")})
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
