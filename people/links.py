"""URLs of people in mails, ntfy and push messages, and digests."""

from django.conf import settings


def person_url(person_id: object) -> str:
    """The person's page in the client at APP_URL if that is set, else the built-in page."""
    template: str = settings.APP_URL or f"{settings.BASE_URL}/people/{{id}}"
    return template.replace("{id}", str(person_id))
