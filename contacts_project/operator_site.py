"""The admin's site: its title, its index by what operators do, and what no request may bring.

Django makes it before the models are loaded, as `admin.site`, which every app's `admin.py` registers with; what stands
on models is imported when it is asked for.
"""

from collections.abc import Callable, Iterator
from typing import Any

from django.apps import apps
from django.contrib.admin import AdminSite
from django.contrib.admin.apps import AdminConfig
from django.core.exceptions import BadRequest
from django.http import HttpRequest
from django.urls import URLPattern, URLResolver, path
from django.utils.module_loading import import_string

# What stands under which heading; a list that is missing here comes last, under its app's own name.
GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Accounts", ("accounts.user", "accounts.accountmail")),
    ("Reminders", ("notifications.delivery", "notifications.destination", "notifications.digestschedule")),
    ("Address books", ("carddav.connection", "carddav.run", "carddav.conflict", "carddav.mapping")),
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
NAMES = {
    "accounts.user": "Users",
    "accounts.accountmail": "Outbox of account mail",
    "notifications.delivery": "Deliveries",
    "notifications.destination": "Destinations",
    "notifications.digestschedule": "Digests",
    "carddav.connection": "CardDAV connections",
    "carddav.run": "Runs",
    "carddav.conflict": "Conflicts",
    "carddav.mapping": "Held deletions",
    "people.geocodedaddress": "Geocoder's queue",
    "django_celery_beat.periodictask": "Periodic tasks",
    "django_celery_beat.crontabschedule": "Times of periodic tasks",
    "django_celery_beat.intervalschedule": "Intervals of periodic tasks",
    "admin.logentry": "What operators did",
}
# Django's own way to a password knows nothing of sessions and budgets; its shortcut asks for rows of any table by id.
_LEFT_OUT = {"password_change", "password_change_done", "view_on_site"}


class OperatorAdminConfig(AdminConfig):
    """In INSTALLED_APPS in the place of Django's."""

    default_site = "contacts_project.operator_site.OperatorSite"


class OperatorSite(AdminSite):
    """Django's, for operators. Its lists are of `contacts_project.kernel.operator_lists`."""

    site_header = "Contacts · Operation"
    site_title = "Operation"
    index_title = "Operation"
    index_template = "operators/index.html"
    login_template = "account/operator_login.html"
    enable_nav_sidebar = False

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        inner: Any = super().admin_view(view, cacheable)

        def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            refuse_null_characters(request, kwargs)
            return inner(request, *args, **kwargs)

        return checked

    def get_urls(self) -> list[URLResolver | URLPattern]:
        urls = [url for url in super().get_urls() if getattr(url, "name", None) not in _LEFT_OUT]
        pages = {"operation": "operation.operation_page", "trash": "trash.trash_page"}
        own: list[URLResolver | URLPattern] = [
            path(f"{name}/", self.admin_view(_page(f"contacts_project.admin.{place}")), name=name)
            for name, place in pages.items()
        ]
        return own + urls

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> Any:
        """The index by what operators do; of one app, as Django makes it."""
        made = super().get_app_list(request, app_label)
        for app in made:
            for model in app["models"]:
                model["name"] = NAMES.get(model["model"]._meta.label_lower, model["name"])
        return made if app_label else list(_grouped(made))


def _page(place: str) -> Callable[..., Any]:
    def view(request: HttpRequest) -> Any:
        return import_string(place)(request)

    return view


def _grouped(made: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    known = {model["model"]._meta.label_lower: model for app in made for model in app["models"]}
    for heading, labels in GROUPS:
        if models := [known.pop(label) for label in labels if label in known]:
            yield {"name": heading, "app_label": heading.lower().replace(" ", "-"), "app_url": "", "models": models}
    for label, model in known.items():
        config = apps.get_app_config(label.partition(".")[0])
        yield {"name": config.verbose_name, "app_label": config.label, "app_url": "", "models": [model]}


def refuse_null_characters(request: HttpRequest, path_values: dict[str, Any]) -> None:
    """No text of ours has one, and PostgreSQL fails at it. Raises BadRequest, which is 400."""
    sent: list[str] = [*map(str, path_values.values())]
    for form in (request.GET, request.POST):
        for name, values in form.lists():
            sent += [name, *map(str, values)]
    if any("\0" in text for text in sent):
        raise BadRequest("A NUL character was sent.")
