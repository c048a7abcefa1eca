"""The page at `/` for those who are not signed in: what this is, and the ways in."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.pages.viewers import language_of, viewer_of
from accounts.services.registration import awaits_operator, registration_is_open
from contacts_project.kernel.api.responses import render_page
from contacts_project.kernel.errors import UnavailableError
from contacts_project.operation.health import Health, check_health


@require_safe
def home_page(request: HttpRequest) -> HttpResponse:
    """The home page, open to everybody. Its status is that of GET /api/health: 503 if a part is not fit.

    Who is signed in is led to the client, which works offline as well, unless a part is not fit. What is not fit is
    said to operators alone, on their page of the state; the ways in stay while the database can be read.
    """
    health, checks = check_health(timezone.now())
    # Without a database in order, the page still has to be shown.
    is_readable = checks["database"] == checks["migrations"] == "ok"
    viewer = viewer_of(request) if is_readable else None
    is_fit = health is not Health.UNFIT
    if viewer and is_fit:
        return redirect("/app/")
    language = language_of(request, viewer)
    with translation.override(language):
        context = {
            "is_fit": is_fit,
            "is_readable": is_readable,
            "may_register": is_readable and registration_is_open(),
            "note": _note_on_registration() if is_readable else "",
        }
    response = render_page(request, "pages/home.html", context, language=language, status=200 if is_fit else 503)
    if not is_fit:
        response["Retry-After"] = str(UnavailableError().retry_after)
    return response


def _note_on_registration() -> str:
    if not registration_is_open():
        return _("Closed: this service takes no new accounts.")
    if awaits_operator():
        return _("There is no operator yet: who makes the first account becomes it.")
    return ""
