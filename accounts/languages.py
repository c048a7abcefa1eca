"""The languages of the service and which of them suits a caller."""

from django.conf import settings
from django.utils.translation.trans_real import parse_accept_lang_header

CODES: list[str] = [code for code, _ in settings.LANGUAGES]
_ALIASES = {"no": "nb", "nn": "nb"}


def best_language(accept_language: str) -> str:
    """The best match of an Accept-Language header (RFC 9110, section 12.5.4) by primary language, else English."""
    by_primary = {code.partition("-")[0]: code for code in CODES}
    for tag, _ in parse_accept_lang_header(accept_language):
        primary = tag.lower().partition("-")[0]
        if found := by_primary.get(_ALIASES.get(primary, primary)):
            return found
    return settings.LANGUAGE_CODE
