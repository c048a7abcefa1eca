"""Tasks about the instance itself."""

from celery import shared_task
from django.utils import timezone

from contacts_project.operation import figures


@shared_task
def count_days() -> None:
    """Run each hour: store the counts for the charts of the page of operation."""
    figures.count_days(sizes=figures.sizes(), now=timezone.now())
