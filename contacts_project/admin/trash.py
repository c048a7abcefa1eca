"""The page of the trash: how many records are in it, by kind, and when the purge last ran. It shows no contents."""

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe
from django_celery_beat.models import PeriodicTask

from accounts.models import PendingFileDeletion
from contacts_project.kernel.admin import MAX_COUNTED_ROWS
from contacts_project.kernel.ownership.models import Tombstone, retention_cutoff
from people.trash import trash_kinds

_PURGE_TASKS = ("people.tasks.purge_deleted", "notifications.tasks.purge_deliveries", "carddav.tasks.purge_history")
_KIND_LABELS = {
    "people": "People",
    "importantDates": "Important dates",
    "groups": "Groups",
    "customFieldTemplates": "Custom fields",
    "relationships": "Relationships",
    "relationshipTypes": "Relationship types",
}


@require_safe
def trash_page(request: HttpRequest) -> HttpResponse:
    """Counts of the trash of all accounts, and the periodic tasks that empty it."""
    cutoff = retention_cutoff(timezone.now())
    kinds = []
    for kind in trash_kinds().values():
        rows = kind.model._default_manager.filter(deleted_at__isnull=False)
        overdue = rows.filter(deleted_at__lt=cutoff)
        # Counted up to a limit: the trash of all accounts may be large.
        numbers = [found.order_by()[:MAX_COUNTED_ROWS].count() for found in (rows, overdue)]
        kinds.append((_KIND_LABELS.get(kind.name, kind.name), *numbers))
    context = {
        **admin.site.each_context(request),
        "title": "Trash and purge",
        "kinds": kinds,
        "files": PendingFileDeletion.objects.count(),
        "tombstones": Tombstone.unscoped.rows()[:MAX_COUNTED_ROWS].count(),
        "purges": PeriodicTask.objects.filter(task__in=_PURGE_TASKS).select_related("crontab").order_by("name"),
        "retention_days": (timezone.now() - cutoff).days,
    }
    return render(request, "operators/trash.html", context)
