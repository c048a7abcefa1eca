"""VAPID keys (RFC 8292): the key pair by which push services identify this instance.

The settings import this module in every process, so the cryptographic libraries are imported only where keys are used.
"""

import base64
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from contacts_project.kernel.crypto.bootstrap import load_or_create

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
    from py_vapid import Vapid


@dataclass(frozen=True)
class VapidKeys:
    """Both keys as base64url without padding: the point of the public key, the number of the private key."""

    public: str
    private: str


def make_keys() -> VapidKeys:
    """A new key pair."""
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415 - see above

    private = ec.generate_private_key(ec.SECP256R1())
    number = private.private_numbers().private_value.to_bytes(32, "big")
    return VapidKeys(public=_encode_public_key(private.public_key()), private=_encode_base64url(number))


def load_or_create_pair(path: Path) -> VapidKeys:
    """The pair of an instance that configures none, from the file, which is created if missing. Raises ValueError."""
    stored = load_or_create(path, lambda: asdict(make_keys()))
    try:
        return VapidKeys(public=str(stored["public"]), private=str(stored["private"]))
    except (TypeError, KeyError):
        raise ValueError("a key is missing") from None


def read_private_key(text: str) -> "Vapid":
    """Parse a private key in any usual form: base64url of the number or of DER, or PEM. Raises ValueError."""
    from py_vapid import Vapid  # noqa: PLC0415 - see above

    try:
        if text.lstrip().startswith("-----BEGIN"):
            return Vapid.from_pem(text.replace("\\n", "\n").encode())
        return Vapid.from_string(text)
    except Exception as error:  # py_vapid raises the exceptions of several libraries
        raise ValueError("This is no VAPID private key.") from error


def public_key_of(private: str) -> str:
    """The public key of a private key. Raises ValueError if that is invalid."""
    return _encode_public_key(read_private_key(private).public_key)


def _encode_public_key(key: "EllipticCurvePublicKey") -> str:
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - see above

    return _encode_base64url(
        key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    )


def _encode_base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
