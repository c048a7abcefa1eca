"""The page of labels to print: one label for each household."""

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.views.decorators.http import require_safe

from accounts.models import User
from accounts.pages.viewers import sign_in_required
from contacts_project.kernel.api.responses import render_page
from people.api.person_query import read_ids
from people.letters.households import Household, find_households
from people.letters.sheets import SHEETS

DEFAULT_SHEET = "l7160"


@require_safe
@sign_in_required
def labels_page(request: HttpRequest, viewer: User) -> HttpResponse:
    """The labels of households, of `groupIds`, `personIds` or all, for a sheet of paper. An unknown `sheet` is 404."""
    sheet = request.GET.get("sheet", DEFAULT_SHEET)
    if sheet not in SHEETS:
        return render_page(request, "pages/missing.html", {"viewer": viewer}, language=viewer.language, status=404)
    with translation.override(viewer.language):
        households = find_households(viewer, read_ids(request.GET, "groupIds"), read_ids(request.GET, "personIds"))
    return render_page(request, "pages/labels.html", labels_context(sheet, households), language=viewer.language)


def labels_context(sheet: str, households: Sequence[Household]) -> dict[str, object]:
    return {"sheet_name": sheet, "pages": SHEETS[sheet].pages(households)}
