"""ntfy: push to a topic of ntfy.sh or of the owner's own server (https://docs.ntfy.sh/publish/#publish-as-json)."""

import time
from typing import Any
from urllib.parse import unquote, urlsplit

import orjson
import requests

from contacts_project.kernel.json import dumps
from contacts_project.kernel.outbound.failures import Code, OutboundError, check_status
from contacts_project.kernel.outbound.session import DEADLINE_SECONDS, outbound_session
from notifications.channels.endpoint import EndpointChannel
from notifications.models.destinations import Destination, DestinationType
from notifications.notices.actions import action_links_without_three_days
from notifications.notices.notice import Notice, NoticeKind
from notifications.notices.wording import wording_of

MAX_PARENTS = 5
# ntfy turns a longer message into an attached file.
MAX_MESSAGE_BYTES = 4000
TYPE_TAGS = {"BIRTHDAY": "birthday", "ANNIVERSARY": "heart", "MEMORIAL": "candle"}
KIND_TAGS = {
    NoticeKind.CONTACT: "wave",
    NoticeKind.CONTACTS_FOUND: "inbox_tray",
    NoticeKind.DAV_DELETIONS: "wastebasket",
    NoticeKind.DAV_REFUSED: "warning",
    NoticeKind.SHARE_HELD: "raised_hand",
    NoticeKind.TEST: "white_check_mark",
}


class NtfyChannel(EndpointChannel):
    """Publishes to a topic. With the same sequence id, a retry replaces an earlier message on the owner's devices."""

    name = "ntfy"
    type = DestinationType.NTFY

    def deliver_to(self, destination: Destination, notice: Notice) -> None:
        """Publish to one topic. Raises OutboundError, also for a 2xx that is not JSON: that is not an ntfy server."""
        wording = wording_of(notice)
        message: dict[str, Any] = {
            "topic": topic_of(destination.url),
            "title": wording.title,
            "message": cut_bytes(wording.text, MAX_MESSAGE_BYTES),
            "click": wording.url,
            "tags": [
                KIND_TAGS.get(notice.kind) or TYPE_TAGS.get(notice.content.get("type") or "", "calendar"),
            ],
            "sequence_id": str(notice.id),
        }
        # At most three buttons. One tap posts the URL and clears the message
        # (https://docs.ntfy.sh/publish/#send-http-request).
        if links := action_links_without_three_days(notice):
            message["actions"] = [
                {"action": "http", "label": link.label, "url": link.url, "method": "POST", "clear": True}
                for link in links
            ]
        headers = {"Content-Type": "application/json"}
        if destination.secret:
            headers["Authorization"] = f"Bearer {destination.secret}"
        with outbound_session() as session:
            response = session.request("POST", destination.server_url + "/", data=dumps(message), headers=headers)
        check_status(response)
        if not _is_json(response):
            raise OutboundError(Code.UNEXPECTED_RESPONSE, "The answer is not JSON.", status=response.status_code)


def topic_of(url: str) -> str:
    """The topic of a topic URL: its last path segment."""
    return unquote(urlsplit(url).path.rstrip("/").rpartition("/")[2])


def find_server(url: str) -> str | None:
    """The root URL of the ntfy server behind a topic URL; None if no ntfy server answers.

    Tries the parent paths of the topic, the longest first, within one deadline for all. Raises OutboundError if the
    host cannot be reached.
    """
    parts = urlsplit(url)
    segments = parts.path.rstrip("/").split("/")[:-1]
    ends_at = time.monotonic() + DEADLINE_SECONDS
    with outbound_session() as session:
        for length in range(len(segments), max(0, len(segments) - MAX_PARENTS), -1):
            root = f"{parts.scheme}://{parts.netloc}{'/'.join(segments[:length])}"
            seconds = ends_at - time.monotonic()
            if seconds <= 0:
                raise OutboundError(Code.TIMEOUT)
            if _is_healthy_response(session.request("GET", f"{root}/v1/health", timeout=seconds)):
                return root
    return None


def cut_bytes(text: str, limit: int) -> str:
    """The text, cut to at most `limit` bytes of UTF-8, with an ellipsis if it was longer."""
    data = text.encode()
    # "…" has three bytes.
    return text if len(data) <= limit else data[: limit - 3].decode(errors="ignore") + "…"


def _is_healthy_response(response: requests.Response) -> bool:
    if not 200 <= response.status_code < 300:
        return False
    try:
        body = orjson.loads(response.content)
    except orjson.JSONDecodeError:
        return False
    return isinstance(body, dict) and isinstance(body.get("healthy"), bool)


def _is_json(response: requests.Response) -> bool:
    media_type = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    return media_type == "application/json" or media_type.endswith("+json")
