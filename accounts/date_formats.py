"""Formats dates for an account: as digits in the order of its date format, or as words in the active language."""

import datetime as dt

from django.utils import dateformat
from django.utils.translation import gettext as _

from accounts.models import User

_DIGITS = {"MDY": "%m/%d/%Y", "DMY": "%d/%m/%Y", "YMD": "%Y-%m-%d"}
_DIGITS_WITHOUT_YEAR = {"MDY": "%m/%d", "DMY": "%d/%m", "YMD": "%m-%d"}


def day_in_digits(day: dt.date, owner: User, *, year_unknown: bool = False) -> str:
    """Format as `2026-12-09`, in the account's order; without the year if it is unknown."""
    patterns = _DIGITS_WITHOUT_YEAR if year_unknown else _DIGITS
    return day.strftime(patterns[owner.date_format])


def day_in_words(day: dt.date, owner: User) -> str:
    """Format as `Wednesday, 9 December`. The translation chooses the pattern; English has two orders."""
    # Translators: format characters of Django's date filter. Weekdays and months are Django's translations.
    pattern = _("l, F j") if owner.date_format == "MDY" else _("l, j F")
    if day.day == 1:
        # Translators: what stands in these patterns for `j` on the first of a month: `1er` in French.
        pattern = pattern.replace("j", _("j"))
    return dateformat.format(day, pattern)
