"""Texts in the active language of Django, from the catalogues of the apps."""

from contextlib import AbstractContextManager

from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext, override

from contacts_project.kernel.texts import Translation


class DjangoTranslation(Translation):
    def translate(self, english: str) -> str:
        return gettext(english)

    def translate_plural(self, english: str, plural: str, number: float) -> str:
        # gettext takes whole numbers alone; half a day is said in the plural in all six languages.
        return ngettext(english, plural, number if isinstance(number, int) else 2)

    def format_number(self, number: float) -> str:
        return number_format(number, use_l10n=True, force_grouping=True)

    def in_english(self) -> AbstractContextManager[None]:
        return override("en")
