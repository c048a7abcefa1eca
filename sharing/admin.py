"""What operators see of shares: which accounts are in them, and whose changes wait. No name of a share, no person."""

from django.contrib import admin
from django.db.models import QuerySet

from contacts_project.kernel.admin import OperatorAdmin, WordFilter
from sharing.models import ShareMembership


class DueFilter(WordFilter[ShareMembership]):
    title, parameter_name = "state", "state"
    words = (("due", "own changes wait to be carried"),)

    def narrow(self, rows: QuerySet[ShareMembership], value: str) -> QuerySet[ShareMembership]:
        return rows.filter(due_at__isnull=False)


@admin.register(ShareMembership)
class ShareMembershipAdmin(OperatorAdmin):
    """Memberships by account."""

    list_display = ("id", "account", "share_key", "is_host", "paused", "due_at", "others_due_at", "deleted_at")
    list_filter = (DueFilter,)
    list_select_related = ("owner", "member")
    ordering = ("-id",)
    fields = readonly_fields = (
        *list_display,
        *("newcomers", "reviewed_at", "sent_revision", "received", "created_at"),
    )

    @admin.display(description="share")
    def share_key(self, row: ShareMembership) -> str:
        return str(row.share_id)

    @admin.display(boolean=True, description="host")
    def is_host(self, row: ShareMembership) -> bool:
        return row.member.is_host

    @admin.display(description="others' changes wait since")
    def others_due_at(self, row: ShareMembership) -> object:
        return row.member.due_at
