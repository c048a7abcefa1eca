"""The text of a notice in the account's language and formats, for e-mail, push and ntfy. Webhooks contain the facts."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.utils import translation
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.date_formats import day_in_digits, day_in_words
from contacts_project.kernel.json import JsonMapping
from notifications.notices.actions import action_links
from notifications.notices.notice import Notice, NoticeKind
from people.dates.upcoming import event_in_words, occasion
from people.models.person import person_url


@dataclass(frozen=True)
class DigestPerson:
    """One person's events on one day of the digest."""

    name: str
    url: str
    occasions: tuple[str, ...]


@dataclass(frozen=True)
class DigestDay:
    """One day of the digest: in words, in the account's date format, and as its number in the month."""

    words: str
    digits: str
    number: int
    people: tuple[DigestPerson, ...]


@dataclass(frozen=True)
class Button:
    """A button of a notice. The first one of a notice is highlighted. `kind` is `open`, or that of an action."""

    kind: str
    label: str
    url: str


@dataclass(frozen=True)
class Wording:
    """The text of one notice: a title, the lines below it (in a digest, `days`), and the URL that a click opens."""

    title: str
    lines: tuple[str, ...]
    url: str
    days: tuple[DigestDay, ...] = ()
    buttons: tuple[Button, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def wording_of(notice: Notice) -> Wording:
    """The text of a notice in its owner's language."""
    with translation.override(notice.owner.language):
        wording = _WORDINGS[notice.kind](notice)
        # A digest needs no such button: each name in it is a link.
        open_buttons = [] if wording.days else [Button("open", _("Open"), wording.url)]
    buttons = (*open_buttons, *(Button(link.action.kind.value, link.label, link.url) for link in action_links(notice)))
    # Names may contain line breaks, and the title becomes a header, which must not.
    return replace(wording, title=" ".join(wording.title.split()), buttons=buttons)


def format_day(day: str, notice: Notice) -> str:
    """A day (`YYYY-MM-DD`) in words, followed by the account's date format."""
    date = dt.date.fromisoformat(day[:10])
    values = {"words": day_in_words(date, notice.owner), "digits": day_in_digits(date, notice.owner)}
    return _("%(words)s (%(digits)s)") % values


def _important_date_wording(notice: Notice) -> Wording:
    content = notice.content
    name = content["personName"]
    lines = [_days_until_text(content["daysUntil"], format_day(content["date"], notice)), *_age_lines(content)]
    if content.get("late"):
        lines.append(_("This reminder comes late: it could not be sent in time."))
    title = _("%(occasion)s: %(name)s") % {
        "occasion": occasion(content.get("type"), content.get("title")),
        "name": name,
    }
    return Wording(title, tuple(lines), person_url(content["personId"]))


def _contact_wording(notice: Notice) -> Wording:
    content = notice.content
    last = content.get("lastContact")
    line = (
        _("Your last contact was on %(date)s.") % {"date": format_day(last, notice)}
        if last
        else _("No contact has been noted yet.")
    )
    title = _("Get in touch with %(name)s") % {"name": content["personName"]}
    return Wording(title, (line,), person_url(content["personId"]))


def _digest_wording(notice: Notice) -> Wording:
    events = notice.content["events"]
    title = ngettext("%(count)d event in the coming week", "%(count)d events in the coming week", len(events)) % {
        "count": len(events)
    }
    if notice.content.get("hasMore"):  # missing in what was planned by version 1.0
        title = _("More than %(count)d events in the coming week") % {"count": len(events)}
    by_day: dict[str, list[Mapping[str, Any]]] = {}
    for event in events:
        by_day.setdefault(event["date"], []).append(event)
    return Wording(title, (), settings.BASE_URL, tuple(_digest_day(day, by_day[day], notice) for day in by_day))


def _digest_day(day: str, events: list[JsonMapping], notice: Notice) -> DigestDay:
    """The day's events, grouped by person."""
    date = dt.date.fromisoformat(day)
    occasions: dict[tuple[str, str], list[str]] = {}
    for event in events:
        occasions.setdefault((event["personId"], event["personName"]), []).append(event_in_words(event))
    people = (DigestPerson(name, person_url(id_), tuple(texts)) for (id_, name), texts in occasions.items())
    words = capfirst(day_in_words(date, notice.owner))
    return DigestDay(words, day_in_digits(date, notice.owner), date.day, tuple(people))


def _contacts_found_wording(notice: Notice) -> Wording:
    count = notice.content["count"]
    title = ngettext("%(count)d new contact on your server", "%(count)d new contacts on your server", count)
    line = ngettext("Look at it, and import it if you want.", "Look at them, and import those that you want.", count)
    return Wording(title % {"count": count}, (line,), settings.BASE_URL)


def _deletions_wording(notice: Notice) -> Wording:
    content = notice.content
    title = ngettext("%(device)s deleted %(count)d person", "%(device)s deleted %(count)d people", content["count"]) % {
        "device": content["deviceName"],
        "count": content["count"],
    }
    return Wording(title, (_("If you did not mean that, bring all of them back."),), _devices_url())


def _devices_url() -> str:
    """The client's page of devices, which shows and undoes what they did."""
    return f"{settings.BASE_URL}/app/devices"


def _refused_wording(notice: Notice) -> Wording:
    title = _("Not everything from %(device)s could be saved") % {"device": notice.content["deviceName"]}
    return Wording(title, (_("Your account lists what it was, and why, under this device."),), _devices_url())


def _held_wording(notice: Notice) -> Wording:
    content = notice.content
    title = ngettext(
        "%(name)s has changed %(count)d person in “%(share)s”",
        "%(name)s has changed %(count)d people in “%(share)s”",
        content["count"],
    ) % {"name": content["memberName"], "share": content["shareName"], "count": content["count"]}
    line = _("Nothing of it has reached you: let it through, or refuse it.")
    return Wording(title, (line,), f"{settings.BASE_URL}/app/shares/{content['shareId']}")


def _test_wording(notice: Notice) -> Wording:
    return Wording(
        _("Test notification"), (_("This works: reminders will arrive here like this one."),), settings.BASE_URL
    )


def _days_until_text(days_until: int, day: str) -> str:
    if days_until < 0:
        return _("It was on %(date)s.") % {"date": day}
    if days_until == 0:
        return _("It is today, %(date)s.") % {"date": day}
    if days_until == 1:
        return _("It is tomorrow, %(date)s.") % {"date": day}
    text = ngettext("It is in %(days)d day, on %(date)s.", "It is in %(days)d days, on %(date)s.", days_until)
    return text % {"days": days_until, "date": day}


def _age_lines(content: JsonMapping) -> list[str]:
    years = content.get("turns")
    if not years or years < 0 or content.get("type") == "NAMEDAY":
        return []
    if content.get("type") == "BIRTHDAY":
        # Singular and plural are equal in English, but not in French and Spanish.
        text = ngettext("%(name)s turns %(years)d.", "%(name)s turns %(years)d.", years)
        return [text % {"name": content["personName"], "years": years}]
    return [ngettext("%(years)d year.", "%(years)d years.", years) % {"years": years}]


_WORDINGS = {
    NoticeKind.IMPORTANT_DATE: _important_date_wording,
    NoticeKind.IMPORTANT_DATE_LEAD: _important_date_wording,
    NoticeKind.CONTACT: _contact_wording,
    NoticeKind.DIGEST: _digest_wording,
    NoticeKind.CONTACTS_FOUND: _contacts_found_wording,
    NoticeKind.DAV_DELETIONS: _deletions_wording,
    NoticeKind.DAV_REFUSED: _refused_wording,
    NoticeKind.SHARE_HELD: _held_wording,
    NoticeKind.TEST: _test_wording,
}
