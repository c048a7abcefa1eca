"""Messages that lists of the admin show after an action. No other page has any."""

from django.contrib.messages.middleware import MessageMiddleware
from django.http import HttpRequest


class AdminMessagesMiddleware(MessageMiddleware):
    """Reads the messages of the admin's requests alone: for others it would read the cookie and the session for
    nothing."""

    def process_request(self, request: HttpRequest) -> None:
        if request.path.startswith("/admin/"):
            super().process_request(request)
