"""The languages of the service: which one a request is answered in, and the texts in it."""

from contextlib import AbstractContextManager
from typing import Any

from django.conf import settings
from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext, override
from django.utils.translation.trans_real import parse_accept_lang_header

from contacts_project.kernel.texts import Translation

CODES: list[str] = [code for code, _ in settings.LANGUAGES]
_ALIASES = {"no": "nb", "nn": "nb"}  # Norwegian in general, and Nynorsk: there is only Bokmål


def best_language(accept_language: str) -> str:
    """The best match for an Accept-Language header (RFC 9110, section 12.5.4) by primary language; English if none."""
    by_primary = {code.partition("-")[0]: code for code in CODES}
    for tag, _ in parse_accept_lang_header(accept_language):
        primary = tag.lower().partition("-")[0]
        if found := by_primary.get(_ALIASES.get(primary, primary)):
            return found
    return settings.LANGUAGE_CODE


def language_of(request: Any) -> str:
    """The language of the signed-in account; without one, by Accept-Language.

    `request` is DRF's or Django's. An account that has not been looked up yet is not looked up for this.
    """
    language: str | None = getattr(getattr(request, "_user", None), "language", None)
    return language or best_language(request.META.get("HTTP_ACCEPT_LANGUAGE", ""))


class DjangoTranslation(Translation):
    """Texts in the active language of Django, from the catalogues of the apps."""

    def translate(self, english: str) -> str:
        return gettext(english)

    def translate_plural(self, english: str, plural: str, number: float) -> str:
        # gettext takes whole numbers alone; half a day is said in the plural in all six languages.
        return ngettext(english, plural, number if isinstance(number, int) else 2)

    def format_number(self, number: float) -> str:
        return number_format(number, use_l10n=True, force_grouping=True)

    def in_english(self) -> AbstractContextManager[None]:
        return override("en")
