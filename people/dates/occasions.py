"""Texts for important dates in the active language."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from contacts_project.kernel.json import JsonMapping


def occasion(type_: str | None, title: str | None) -> str:
    """The name of the predefined type, or the date's own title."""
    names = {
        "BIRTHDAY": _("Birthday"),
        "ANNIVERSARY": _("Anniversary"),
        "NAMEDAY": _("Name day"),
        "MEMORIAL": _("Memorial day"),
    }
    return names.get(type_ or "") or title or _("Important date")


def event_in_words(event: JsonMapping) -> str:
    """The text of an event of people.dates.upcoming, with the age if it is known."""
    if event["kind"] == "contact":
        return _("Get in touch")
    what = occasion(event.get("type"), event.get("title"))
    age = age_in_words(event.get("type"), event.get("turns"))
    return f"{what} · {age}" if age else what


def age_in_words(type_: str | None, years: int | None) -> str:
    """The age on a birthday, or the years since the date; `""` if unknown, and for name days."""
    if not years or years < 0 or type_ == "NAMEDAY":
        return ""
    if type_ == "BIRTHDAY":
        return ngettext("turns %(years)d", "turns %(years)d", years) % {"years": years}
    return ngettext("%(years)d year", "%(years)d years", years) % {"years": years}


def days_until_in_words(days: int) -> str:
    """A relative day, such as `tomorrow` or `in 3 days`."""
    if days == 0:
        return _("today")
    if days == 1:
        return _("tomorrow")
    if days < 0:
        return ngettext("%(days)d day ago", "%(days)d days ago", -days) % {"days": -days}
    return ngettext("in %(days)d day", "in %(days)d days", days) % {"days": days}
