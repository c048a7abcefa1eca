"""Routes of relationships, all below /api/."""

from django.urls import URLPattern, URLResolver, path

from contacts_project.kernel.api.errors import register_failures
from relationships.api.errors import FAILURES
from relationships.api.views import bulk, network, relationships, stats, types

register_failures(FAILURES)

urlpatterns: list[URLPattern | URLResolver] = [
    path("relationships", relationships.RelationshipsView.as_view()),
    path("relationships/<str:relationship_id>", relationships.RelationshipView.as_view()),
    path("relationships/<str:relationship_id>/restore", relationships.RestoreRelationshipView.as_view()),
    path("relationships/<str:relationship_id>/permanent", relationships.RemoveRelationshipView.as_view()),
    path("relationship-types", types.RelationshipTypesView.as_view()),
    path("relationship-types/<str:type_id>", types.RelationshipTypeView.as_view()),
    path("relationship-types/<str:type_id>/restore", types.RestoreRelationshipTypeView.as_view()),
    path("relationship-types/<str:type_id>/permanent", types.RemoveRelationshipTypeView.as_view()),
    path("people/bulk", bulk.BulkView.as_view()),
    path("people/bulk/orphans", bulk.BulkOrphansView.as_view()),
    path("people/<str:person_id>/orphans", network.OrphansView.as_view()),
    path("people/<str:person_id>/graph", network.PersonGraphView.as_view()),
    path("dashboard/stats", stats.DashboardStatsView.as_view()),
    path("dashboard/graph", network.DashboardGraphView.as_view()),
]
