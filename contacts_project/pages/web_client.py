"""The client in the browser: one page at all paths below /app/, and its few files that have fixed names.

All other files of the client are static ones, with a hash of their content in their names. The service worker must be
below /app/, since its scope is the folder of its script; `home.js`, which answers for `/` while there is no network,
may have a wider one. The page and the workers are revalidated on each load, so that a new version is noticed.
"""

import hashlib
import re
from functools import lru_cache
from pathlib import Path
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.views.decorators.http import require_safe

from accounts.pages.viewers import viewer_of
from contacts_project.kernel.api.compression import compress
from contacts_project.kernel.ids import parse_id
from people.merging.merge import find_merged
from people.models import Person

FOLDER: Final[Path] = settings.BASE_DIR / "contacts_project/static/app"
WELL_KNOWN_ICONS: Final = {
    "favicon.ico": "favicon.ico",
    "apple-touch-icon.png": "icon-180.png",
    "apple-touch-icon-precomposed.png": "icon-180.png",
}
"""Icons that browsers ask for without being told of them, and their files."""

_PICTURES: Final = ("ico", "png")
_FILE_NAME: Final = re.compile(r"[\w-]+\.(\w+)")
_TYPES: Final = {
    "html": "text/html; charset=utf-8",
    "ico": "image/x-icon",
    "js": "text/javascript; charset=utf-8",
    "png": "image/png",
    "svg": "image/svg+xml",
    "webmanifest": "application/manifest+json",
}


@require_safe
def web_client(request: HttpRequest, path: str = "") -> HttpResponseBase:
    """A file of the client if the path names one, else its page, which shows what the path says."""
    response = _serve(request, path if _is_file(path) else "index.html", "no-cache")
    if path == "home.js":
        response["Service-Worker-Allowed"] = "/"
    return response


@require_safe
def person_link(request: HttpRequest, person_id: str) -> HttpResponse:
    """Links that were sent before lead on to the client; of a person that was merged, to the one into whom."""
    viewer, key = viewer_of(request), parse_id(person_id)
    if viewer and key:
        person = Person.objects.owned_by(viewer).filter(pk=key, deleted_at__isnull=False).first()
        merged = find_merged(viewer, person) if person else None
        key = merged.pk if merged else key
    return redirect(f"/app/people/{key or person_id}")


@require_safe
def well_known_icon(request: HttpRequest, name: str) -> HttpResponseBase:
    return _serve(request, name, "public, max-age=86400")


def _is_file(path: str) -> bool:
    match = _FILE_NAME.fullmatch(path)
    return match is not None and match[1] in _TYPES and (FOLDER / path).is_file()


def _serve(request: HttpRequest, name: str, cache_control: str) -> HttpResponseBase:
    file = FOLDER / name
    content, etag = _read(file, file.stat().st_mtime_ns)
    response = HttpResponse(content, content_type=_TYPES[name.rpartition(".")[2]])
    response["ETag"] = etag
    response["Cache-Control"] = cache_control
    # As for other pages: their URLs name people, which other sites must not see.
    response["Referrer-Policy"] = "same-origin"
    answer = get_conditional_response(request, etag, None, response) or response
    if answer is response and not name.endswith(_PICTURES):
        patch_vary_headers(response, ["Accept-Encoding"])
        compress(response, request.META.get("HTTP_ACCEPT_ENCODING", ""))
    return answer


@lru_cache(maxsize=32)
def _read(file: Path, _changed_at: int) -> tuple[bytes, str]:
    """The content and the ETag of the file as it was changed last."""
    content = file.read_bytes()
    return content, f'"{hashlib.sha256(content).hexdigest()[:32]}"'
