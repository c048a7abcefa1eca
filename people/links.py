"""Where links to people lead: mails, ntfy, push and digests."""

from django.conf import settings


def person_url(person_id: object) -> str:
    """The person in the client that APP_URL names, else on the page of our own."""
    template: str = settings.APP_URL or f"{settings.BASE_URL}/people/{{id}}"
    return template.replace("{id}", str(person_id))
