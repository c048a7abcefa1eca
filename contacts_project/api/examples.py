"""Examples for the API description: one plausible value for each property name, put on every schema that has it."""

from typing import Any

EXAMPLES: dict[str, Any] = {
    "id": "01979a3e-6c5b-7d21-9a44-2f6f3c8e1b70",
    "personId": "01979a3e-6c5b-7d21-9a44-2f6f3c8e1b70",
    "email": "ada@example.org",
    "password": "Analytical-1843",
    "name": "Ada",
    "surname": "Lovelace",
    "middleName": "King",
    "nickname": "Countess",
    "prefix": "Lady",
    "organization": "Analytical Engines",
    "jobTitle": "Programmer",
    "number": "+44 20 7946 0958",
    "streetLine1": "12 St James's Square",
    "locality": "London",
    "country": "United Kingdom",
    "postalCode": "SW1Y 4JH",
    "latitude": 51.5072,
    "longitude": -0.1357,
    "url": "https://example.org/ada",
    "handle": "@ada",
    "protocol": "matrix",
    "notes": "Met at the Royal Society.",
    "anniversary": "1835-07-08",
    "lastContact": "2026-05-01",
    "date": "1815-12-10",
    "title": "First program",
    "color": "#4C6EF5",
    "label": "Friend",
    "timezone": "Europe/London",
    "language": "en",
    "token": "cnt_...",
    "createdAt": "2026-05-01T09:30:00.000Z",
    "updatedAt": "2026-05-01T09:30:00.000Z",
    "displayName": "Ada Lovelace",
}


def add_examples(result: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
    """Postprocessing hook of drf-spectacular: fills in `examples` where a property has none and its type fits."""
    for schema in result.get("components", {}).get("schemas", {}).values():
        for name, described in schema.get("properties", {}).items():
            if name in EXAMPLES and "$ref" not in described and _fits(described, EXAMPLES[name]):
                described.setdefault("examples", [EXAMPLES[name]])
    return result


def _fits(described: dict[str, Any], example: Any) -> bool:
    kinds = described.get("type", "string")
    kind = "string" if isinstance(example, str) else "number"
    return kind in ([kinds] if isinstance(kinds, str) else kinds) and "enum" not in described
