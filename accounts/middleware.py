"""Django's sessions, which here end a while after their last use and not after the sign-in."""

from django.conf import settings
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from accounts.services.sessions import renew_expiry

# Only so often the database is asked whether a session is to be renewed.
_CHECK_SECONDS = 3600


class RenewingSessionMiddleware(SessionMiddleware):
    """Renews the session and its cookie with its use, at most daily.

    The cookie of a session that has ended elsewhere stays in the browser until it expires, so that every request, and
    not only the first one, learns why it is refused.
    """

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        session = request.session
        has_ended = settings.SESSION_COOKIE_NAME in request.COOKIES and session.is_empty() and not session.modified
        response = super().process_response(request, response)
        if has_ended:
            response.cookies.pop(settings.SESSION_COOKIE_NAME, None)
        # The cached user: a session that no longer signs anybody in is left to expire, and nobody is looked up for it.
        user, key = getattr(request, "_cached_user", None), request.session.session_key
        if key is None or user is None or not user.is_authenticated:
            return response
        if settings.SESSION_COOKIE_NAME in response.cookies:  # a new session, or one that has just ended
            return response
        is_checked = cache.add(f"session-renewal:{key}", 1, _CHECK_SECONDS)
        if is_checked and renew_expiry(session_key=key, now=timezone.now()):
            response.set_cookie(
                settings.SESSION_COOKIE_NAME,
                key,
                max_age=settings.SESSION_COOKIE_AGE,
                domain=settings.SESSION_COOKIE_DOMAIN,
                path=settings.SESSION_COOKIE_PATH,
                secure=settings.SESSION_COOKIE_SECURE,
                httponly=settings.SESSION_COOKIE_HTTPONLY,
                samesite=settings.SESSION_COOKIE_SAMESITE,
            )
        return response
