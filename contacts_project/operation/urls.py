"""Routes about the service itself, below /api/."""

from django.urls import path

from contacts_project.operation import views

urlpatterns = [
    path("health", views.HealthView.as_view()),
    path("version", views.VersionView.as_view()),
    path("openapi.json", views.OpenAPIView.as_view(), name="openapi"),
    path("docs", views.DocsView.as_view()),
]
