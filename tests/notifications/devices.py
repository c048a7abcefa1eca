"""The browser's side of push: its keys, and decrypting what it receives (RFC 8291)."""

import base64
from typing import Any

import http_ece
import orjson
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.loopback import Received


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Device:
    """One device with its endpoint at a push service."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.secret = b"0123456789abcdef"

    @property
    def subscription(self) -> dict[str, Any]:
        """The browser's PushSubscription, as the body of push/subscribe."""
        point = self.key.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
        )
        return {
            "endpoint": self.endpoint,
            "expirationTime": None,
            "keys": {"p256dh": encode(point), "auth": encode(self.secret)},
        }

    def read(self, request: Received) -> Any:
        """Decrypt a request to the push service; returns its JSON."""
        assert request.headers["content-encoding"] == "aes128gcm"
        plain = http_ece.decrypt(request.body, private_key=self.key, auth_secret=self.secret, version="aes128gcm")
        return orjson.loads(plain)
