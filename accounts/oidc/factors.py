"""Whether the provider has asked for a second factor: the `amr` claim (RFC 8176)."""

from typing import Any

_KNOWLEDGE = {"pwd", "pin", "kba"}
_POSSESSION = {"otp", "sms", "tel", "hwk", "swk", "sc"}
_INHERENCE = {"face", "fpt", "iris", "retina", "vbm"}


def shows_second_factor(claims: dict[str, Any]) -> bool:
    """Whether the claims of an ID token name factors of two kinds, or `mfa`. Two of one kind are one factor."""
    amr = claims.get("amr")
    methods = {method for method in amr if isinstance(method, str)} if isinstance(amr, list) else set()
    kinds = [kind for kind in (_KNOWLEDGE, _POSSESSION, _INHERENCE) if kind & methods]
    return "mfa" in methods or len(kinds) > 1
