"""The languages of the service, and the choice of one by Accept-Language."""

from django.conf import settings
from django.utils.translation.trans_real import parse_accept_lang_header

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
