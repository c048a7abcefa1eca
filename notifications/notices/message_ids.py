"""Message-IDs of mails that may be sent more than once."""

from django.conf import settings


def format_message_id(key: object) -> str:
    """The Message-ID for `key`: the same in every attempt, so that a mailbox can recognise a duplicate."""
    return f"<{key}@{settings.EMAIL_DOMAIN}>"
