"""Message-IDs of mails that may be sent more than once."""

from email.utils import parseaddr

from django.conf import settings


def format_message_id(key: object) -> str:
    """The Message-ID for `key`: the same in every attempt, so that a mailbox can recognise a duplicate."""
    domain = parseaddr(settings.DEFAULT_FROM_EMAIL)[1].rpartition("@")[2] or "localhost"
    return f"<{key}@{domain}>"
