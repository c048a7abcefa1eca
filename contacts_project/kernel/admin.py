"""Base classes of the admin. Its lists are read-only, of bounded cost, and filtered only by what they offer.

Django's admin accepts any column of the table as a filter (`?password__startswith=`), counts all rows, and sorts by any
column. These lists accept their own filters only, count up to MAX_COUNTED_ROWS, and sort by the columns in
`sortable_by`.
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Generic, TypeVar, cast

from django.contrib import admin, messages
from django.contrib.admin.views.main import ChangeList
from django.contrib.messages.middleware import MessageMiddleware
from django.core.paginator import Paginator
from django.db.models import Expression, Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.html import format_html

from contacts_project.kernel.errors import DomainError

Row = TypeVar("Row", bound=Model)

# No operator pages beyond this many rows; they filter or search.
MAX_COUNTED_ROWS = 100_000


class BoundedPaginator(Paginator):  # type: ignore[type-arg]  # as OperatorAdmin
    """Counts at most MAX_COUNTED_ROWS."""

    @cached_property
    def count(self) -> int:
        rows = cast("QuerySet[Any]", self.object_list)
        return rows.order_by()[:MAX_COUNTED_ROWS].count() if hasattr(rows, "order_by") else len(self.object_list)


class BoundedChangeList(ChangeList):
    """A page of a list, with `row.notes` from `notes_on`: data of other tables, loaded for all rows at once."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        rows = list(self.result_list)
        self.result_list = rows  # evaluated only once, so that these rows keep their notes
        notes = self.model_admin.notes_on(rows)  # type: ignore[attr-defined]  # an OperatorAdmin
        for row in rows:
            row.notes = notes.get(row.pk, {})

    def get_ordering_field(self, field_name: str) -> Expression | str | None:  # type: ignore[override]
        return super().get_ordering_field(field_name) if field_name in self.sortable_by else None  # type: ignore[operator]


class OperatorAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # Django cannot subscript it at run time
    """A read-only list. `notes_on` loads data of other tables for the rows of a page, as `row.notes`."""

    list_per_page = 50
    list_max_show_all = 200
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER  # facets count the table once for each value
    paginator = BoundedPaginator
    list_select_related: ClassVar[Any] = ("owner",)
    sortable_by: ClassVar[Any] = ()
    actions_selection_counter = True

    def get_changelist(self, request: HttpRequest, **kwargs: object) -> type[ChangeList]:
        return BoundedChangeList

    def notes_on(self, rows: list[Any]) -> Mapping[Any, dict[str, Any]]:
        """Return the notes of the rows, by primary key."""
        return {}

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Model | None:
        row = super().get_object(request, object_id, from_field)
        if row is not None:
            cast("Any", row).notes = self.notes_on([row]).get(row.pk, {})
        return row

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Allow the filters of the list and no other column."""
        return lookup in self._own_lookups()

    def _own_lookups(self) -> Iterable[str]:
        for item in cast("Iterable[Any]", self.list_filter):
            if isinstance(item, str):
                yield from (f"{item}__exact", f"{item}__isnull")
            else:
                yield item.parameter_name

    def has_add_permission(self, request: HttpRequest, *args: object) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_operate_permission(self, request: HttpRequest) -> bool:
        """Whether the user may run the actions of the list. Viewing it does not need this permission."""
        return super().has_change_permission(request)

    @admin.display(description="account")
    def account(self, row: Any) -> str:
        """The account that a row belongs to, as a link."""
        return account_link(row.owner) if row.owner_id else "–"

    def report_action(
        self, request: HttpRequest, done: list[Any], refused: list[tuple[Any, DomainError]], what: str
    ) -> None:
        """Log the change of each row, and show how many rows were changed and which were refused."""
        for row in done:
            self.log_change(request, row, what)
        if done:
            messages.success(request, f"{what}: {len(done)}.")
        for row, error in refused[:10]:
            messages.error(request, f"{row}: {error.message}")
        if len(refused) > 10:
            messages.error(request, f"And {len(refused) - 10} more were refused.")


def account_link(user: Any) -> str:
    """Return a link to an account, with its mail address as the text."""
    return format_html('<a href="{}">{}</a>', reverse("admin:accounts_user_change", args=[user.pk]), user.email)


class WordFilter(admin.SimpleListFilter, Generic[Row]):
    """A filter of a list of `Row` with a few choices; any other value filters nothing.

    A subclass defines `words`, the choices, and the `column` to compare with, or overrides `narrow`.
    """

    words: ClassVar[tuple[tuple[str, str], ...]] = ()
    column = ""

    def lookups(self, request: HttpRequest, model_admin: "admin.ModelAdmin[Row]") -> Iterable[tuple[str, str]]:
        return self.words

    def queryset(self, request: HttpRequest, queryset: QuerySet[Row]) -> QuerySet[Row]:
        value = self.value()
        return self.narrow(queryset, value) if value in dict(self.words) else queryset

    def narrow(self, rows: QuerySet[Row], value: str) -> QuerySet[Row]:
        return rows.filter(**{self.column: value})


class AdminMessagesMiddleware(MessageMiddleware):
    """Reads the messages that lists of the admin show after an action. No other page has any, so for other requests
    the cookie and the session are not read."""

    def process_request(self, request: HttpRequest) -> None:
        if request.path.startswith("/admin/"):
            super().process_request(request)
