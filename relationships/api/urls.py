"""Routes of relationships, all below /api/."""

from rest_framework.routers import SimpleRouter

from contacts_project.kernel.api.errors import register_failures
from relationships.api.errors import FAILURES
from relationships.api.views.bulk import BulkViewSet
from relationships.api.views.network import DashboardViewSet, NetworkViewSet
from relationships.api.views.relationships import RelationshipViewSet
from relationships.api.views.suggestions import SuggestionViewSet
from relationships.api.views.types import RelationshipTypeViewSet

register_failures(FAILURES)

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("relationships", RelationshipViewSet, basename="relationship")
router.register("relationship-types", RelationshipTypeViewSet, basename="relationship-type")
router.register("relationship-suggestions", SuggestionViewSet, basename="relationship-suggestion")
router.register("people/bulk", BulkViewSet, basename="bulk")
router.register("people", NetworkViewSet, basename="network")
router.register("dashboard", DashboardViewSet, basename="dashboard")

urlpatterns = router.urls
