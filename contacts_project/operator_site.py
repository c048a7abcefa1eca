"""The admin site: its titles, an index that is grouped by task, and a check of all input for NUL characters.

Django creates it, as `admin.site`, before the models are loaded. So views that import models are imported when they are
called.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django.apps import apps
from django.contrib.admin import AdminSite
from django.contrib.admin.apps import AdminConfig
from django.core.exceptions import BadRequest
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import URLPattern, URLResolver, path
from django.utils.module_loading import import_string

from accounts.cookies import clear_site_data

# The index: headings with their models. Models that are missing here follow at the end, by app.
INDEX_SECTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Accounts", ("accounts.user", "accounts.accountmail")),
    ("Reminders", ("notifications.delivery", "notifications.destination", "notifications.digestschedule")),
    ("Address books", ("carddav.connection", "carddav.run", "carddav.conflict", "carddav.mapping")),
    ("Calendars", ("meetings.calendarsource",)),
    ("Shares", ("sharing.sharemembership",)),
    (
        "Background work",
        (
            "people.geocodedaddress",
            "django_celery_beat.periodictask",
            "django_celery_beat.crontabschedule",
            "django_celery_beat.intervalschedule",
        ),
    ),
    ("Operators", ("admin.logentry",)),
)
MODEL_NAMES = {
    "accounts.user": "Users",
    "accounts.accountmail": "Outbox of account mail",
    "notifications.delivery": "Deliveries",
    "notifications.destination": "Destinations",
    "notifications.digestschedule": "Digests",
    "carddav.connection": "CardDAV connections",
    "carddav.run": "Runs",
    "carddav.conflict": "Conflicts",
    "carddav.mapping": "Held deletions",
    "meetings.calendarsource": "Calendar sources",
    "people.geocodedaddress": "Geocoder's queue",
    "django_celery_beat.periodictask": "Periodic tasks",
    "django_celery_beat.crontabschedule": "Times of periodic tasks",
    "django_celery_beat.intervalschedule": "Intervals of periodic tasks",
    "admin.logentry": "What operators did",
}
# Django's password change would bypass our sessions and rate limits; view_on_site queries any table by id.
_REMOVED_URLS = {"password_change", "password_change_done", "view_on_site"}


class OperatorAdminConfig(AdminConfig):
    """Replaces Django's admin app in INSTALLED_APPS."""

    default_site = "contacts_project.operator_site.OperatorSite"


class OperatorSite(AdminSite):
    """The lists derive from `contacts_project.kernel.admin`."""

    site_header = "Contacts · Operation"
    site_title = "Operation"
    index_title = "Operation"
    index_template = "operators/index.html"
    login_template = "account/operator_login.html"
    enable_nav_sidebar = False

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        inner: Any = super().admin_view(view, cacheable)

        def checked_view(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
            reject_null_characters(request, kwargs)
            response: HttpResponseBase = inner(request, *args, **kwargs)
            return response

        return checked_view

    def get_urls(self) -> list[URLResolver | URLPattern]:
        urls = [url for url in super().get_urls() if getattr(url, "name", None) not in _REMOVED_URLS]
        own: list[URLResolver | URLPattern] = [
            path(f"{name}/", self.admin_view(_lazy_view(f"contacts_project.admin.pages.{name}_page")), name=name)
            for name in ("operation", "trash")
        ]
        return own + urls

    def logout(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return clear_site_data(super().logout(request, extra_context))

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> Any:
        """Return the index in our sections, or that of one app as Django makes it."""
        app_list = super().get_app_list(request, app_label)
        for app in app_list:
            for model in app["models"]:
                model["name"] = MODEL_NAMES.get(model["model"]._meta.label_lower, model["name"])
        return app_list if app_label else list(_by_section(app_list))


def _lazy_view(dotted_path: str) -> Callable[[HttpRequest], HttpResponseBase]:
    def view(request: HttpRequest) -> HttpResponseBase:
        response: HttpResponseBase = import_string(dotted_path)(request)
        return response

    return view


def _by_section(app_list: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    remaining = {model["model"]._meta.label_lower: model for app in app_list for model in app["models"]}
    for heading, labels in INDEX_SECTIONS:
        if models := [remaining.pop(label) for label in labels if label in remaining]:
            yield {"name": heading, "app_label": heading.lower().replace(" ", "-"), "app_url": "", "models": models}
    for label, model in remaining.items():
        config = apps.get_app_config(label.partition(".")[0])
        yield {"name": config.verbose_name, "app_label": config.label, "app_url": "", "models": [model]}


def reject_null_characters(request: HttpRequest, path_values: Mapping[str, object]) -> None:
    """PostgreSQL cannot store them in text: the query would fail. Raises BadRequest, which is answered with 400."""
    sent: list[str] = [*map(str, path_values.values())]
    for form in (request.GET, request.POST):
        for name, values in form.lists():
            sent += [name, *map(str, values)]
    if any("\0" in text for text in sent):
        raise BadRequest("A NUL character was sent.")
