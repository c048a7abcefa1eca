"""Whether the user has authenticated with a second factor at the provider, by the `amr` claim (RFC 8176)."""

from contacts_project.kernel.json import JsonObject

_KNOWLEDGE = {"pwd", "pin", "kba"}
_POSSESSION = {"otp", "sms", "tel", "hwk", "swk", "sc"}
_INHERENCE = {"face", "fpt", "iris", "retina", "vbm"}


def used_second_factor(claims: JsonObject) -> bool:
    """Whether `amr` lists `mfa`, or methods of two kinds of factors. Two methods of one kind are a single factor."""
    amr = claims.get("amr")
    methods = {method for method in amr if isinstance(method, str)} if isinstance(amr, list) else set()
    kinds = [kind for kind in (_KNOWLEDGE, _POSSESSION, _INHERENCE) if kind & methods]
    return "mfa" in methods or len(kinds) > 1
