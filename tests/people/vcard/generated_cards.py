"""Hypothesis strategies for cards of every version, with arbitrary parameters, groups and components."""

from typing import Any

from hypothesis import strategies as st

from contacts_project.kernel.text_forms import nfc

LETTERS = st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters="\x85\ufffe\uffff")
WORDS = (
    st.text(st.sampled_from("aé;,:\\\"'^= 😀") | LETTERS, min_size=1, max_size=12).map(nfc).map(str.strip).filter(bool)
)
PLAIN = st.text(st.sampled_from("abcXYZ 0123-"), min_size=1, max_size=12).map(str.strip).filter(bool)


def escape(text: str, version: str) -> str:
    if version == "2.1":
        return text.replace(";", "\\;")
    return text.replace("\\", "\\\\").replace(",", "\\,").replace(";", "\\;")


@st.composite
def components(draw: Any, version: str, count: int) -> str:
    """Up to `count` components; some are empty, and the last may be a list."""
    parts = draw(st.lists(st.just("") | WORDS.map(lambda text: escape(text, version)), min_size=1, max_size=count))
    if version != "2.1" and draw(st.booleans()):
        parts[-1] += f",{escape(draw(WORDS), version)}"
    return ";".join(parts)


DATES = ["1985-01-28", "19850128", "--0203", "1985-01-28T07:30:00Z", "1604-05-06", "soon", ""]
URLS = ["http://example.org/a,b;c", "http\\://example.org", "urn:uuid:1", "x"]
SAMPLES = {
    **dict.fromkeys(("BDAY", "ANNIVERSARY", "X-ABDATE"), DATES),
    **dict.fromkeys(("URL", "RELATED"), URLS),
    "GEO": ["geo:1.5,-2.5", "1.5;-2.5", "geo:1.5,2.5;u=7", "here"],
    "EMAIL": ["a@example.org", "b@example.org", "no address", "mailto:c@example.org"],
    "TEL": ["1", "+44 2", "tel:+1-555;ext=3", "x" * 60],
    "IMPP": ["skype:ada", "xmpp:ada%40example.org", "ada"],
}


def value(name: str, version: str) -> st.SearchStrategy[str]:
    if name in SAMPLES:
        return st.sampled_from(SAMPLES[name])
    if name in {"N", "ADR", "ORG"}:
        return components(version, {"N": 5, "ADR": 7, "ORG": 3}[name])
    if name in {"CATEGORIES", "NICKNAME"}:
        return st.lists(WORDS.map(lambda text: escape(text, version)), min_size=1, max_size=3).map(",".join)
    return WORDS.map(lambda text: escape(text, version))


TYPES = st.sampled_from(["home", "WORK", "cell", "pref", "msg", "voice", "homefax", "x-odd", "INTERNET", "postal"])


@st.composite
def params(draw: Any, version: str) -> str:
    words = draw(st.lists(TYPES, max_size=3, unique_by=str.lower))
    if version == "2.1":
        return "".join(f";{word}" for word in words)
    found = [f";TYPE={word}" for word in words] if draw(st.booleans()) else [f";TYPE={','.join(words)}"] * bool(words)
    for name, texts in (
        ("PREF", "1 7 100"),
        ("LANGUAGE", "en de-AT"),
        ("ALTID", "1"),
        ("PID", "1.1 2.1"),
        ("X-A", "b"),
    ):
        if draw(st.integers(0, 5)) == 0 and not (name == "PREF" and "pref" in words):
            found.append(f";{name}={draw(st.sampled_from(texts.split()))}")
    if draw(st.integers(0, 7)) == 0:
        found.append(';X-QUOTED="a;b:c,d"')
    return "".join(found)


NAMES = st.sampled_from([*SAMPLES, "N", "ADR", "ADR", "ORG", "CATEGORIES", "NICKNAME"]) | st.sampled_from(
    ["FN", "TITLE", "ROLE", "NOTE", "X-SKYPE", "GENDER", "X-FOO", "LANG", "SORT-STRING", "X-messaging/gadu-All", "KIND"]
)


@st.composite
def cards(draw: Any) -> bytes:
    """A card of one version that contains a name."""
    version = draw(st.sampled_from(["2.1", "3.0", "4.0"]))
    lines = ["BEGIN:VCARD", f"VERSION:{version}", f"X-FIRST:{draw(PLAIN)}", f"FN:{draw(PLAIN)}"]
    for number in range(draw(st.integers(0, 8))):
        name = draw(NAMES)
        line = f"{name}{draw(params(version))}:{draw(value(name, version))}"
        group = draw(st.sampled_from(["", "", "", f"item{number}.", "WORK."]))
        lines.append(group + line)
        if group.startswith("item") and draw(st.booleans()):
            label = draw(st.sampled_from(["Boat", "_$!<HomePage>!$_", "home", "A\\, b"]))
            lines.append(f"{group}X-ABLabel:{label}")
    return "\r\n".join([*lines, "END:VCARD", ""]).encode()
