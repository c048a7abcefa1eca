"""URLs of people in mails, ntfy and push messages, digests and calendars."""

from django.conf import settings


def person_url(person_id: object) -> str:
    """The person's page in the client at APP_URL if that is set, else the page of the service (open points, section 9).

    That page needs no script and leads on to the client, so the link works in any mail program's browser.
    """
    template: str = settings.APP_URL or f"{settings.BASE_URL}/people/{{id}}"
    return template.replace("{id}", str(person_id))
