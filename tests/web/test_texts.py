"""Every text of the client in the browser has a translation in all languages, with the same placeholders."""

import json
import re
from functools import cache
from pathlib import Path

import pytest

from tests.npm import WEB

SOURCE = WEB / "src"
LANGUAGES = ["de-DE", "es-ES", "fr-FR", "ja-JP", "nb-NO"]
_LITERAL = r'"((?:[^"\\]|\\.)*)"'
SINGLE = re.compile(rf"\bt\(\s*{_LITERAL}")
PLURAL = re.compile(rf"\btn\(\s*{_LITERAL},\s*{_LITERAL}")
# Texts in tables of the code, which views show with t().
TABLED = re.compile(rf"\b(?:label|hint|title|add): {_LITERAL}")
PLACEHOLDER = re.compile(r"\{\w+\}")


def unescape(text: str) -> str:
    found: str = json.loads(f'"{text}"')
    return found


def sources() -> list[Path]:
    """The files with texts; not those of the functions themselves, whose comments have examples."""
    return [path for path in SOURCE.rglob("*.ts*") if path.name != "Icon.tsx" and path.parent.name != "i18n"] + [
        SOURCE / "i18n/days.ts"
    ]


@cache
def texts() -> tuple[set[str], set[str]]:
    return texts_of(sources())


def texts_of(paths: list[Path]) -> tuple[set[str], set[str]]:
    """The single texts of the code, and the first forms of those with a number."""
    single: set[str] = set()
    plural: set[str] = set()
    for path in paths:
        source = path.read_text()
        single |= {unescape(text) for text in SINGLE.findall(source)}
        single |= {unescape(text) for text in TABLED.findall(source)}
        plural |= {unescape(one) for one, _other in PLURAL.findall(source)}
    return single, plural


def catalogue(language: str) -> dict[str, str | list[str]]:
    """The texts of all features in a language. No two files may have the same text."""
    found: dict[str, str | list[str]] = {}
    for path in sorted((SOURCE / "texts" / language).glob("*.json")):
        part = json.loads(path.read_text())
        assert not found.keys() & part.keys(), f"{path}: {sorted(found.keys() & part.keys())}"
        found |= part
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_translated(language: str) -> None:
    single, plural = texts()
    known = catalogue(language)
    assert sorted((single | plural) - known.keys()) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_translation_is_left_over(language: str) -> None:
    single, plural = texts()
    assert sorted(catalogue(language).keys() - single - plural) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_translations_have_the_same_placeholders(language: str) -> None:
    _single, plural = texts()
    for text, translation in catalogue(language).items():
        forms = translation if isinstance(translation, list) else [translation]
        assert (text in plural) == isinstance(translation, list), text
        for form in forms:
            # A form for one may leave the number out: "in a minute".
            missing = set(PLACEHOLDER.findall(text)) - set(PLACEHOLDER.findall(form))
            assert missing <= ({"{count}"} if text in plural else set()), (text, form)
            assert set(PLACEHOLDER.findall(form)) <= set(PLACEHOLDER.findall(text)) | {"{count}"}, (text, form)


def test_texts_are_literals() -> None:
    """Else they could not be found. What a table holds is shown by its property."""
    for path in sources():
        for argument in re.findall(r"(?<![\w.])tn?\(\s*([^\"\s)][^,)]*)", path.read_text()):
            assert re.fullmatch(r"[\w.!?\[\]]*(?:label|hint|title|add|text: string|one: string)\b.*", argument) or (
                argument.startswith("KINDS.find")
            ), (path, argument)


def reached_at_once(starts: list[str]) -> set[Path]:
    """The modules that these import, not those that they load later."""
    found: set[Path] = set()
    left = [(SOURCE / start).resolve() for start in starts]
    while left:
        file = left.pop()
        if file in found:
            continue
        found.add(file)
        if file.suffix in {".ts", ".tsx"}:
            targets = re.findall(r'(?:from|import) "(\.[^"]+)"', file.read_text())
            left += [path for target in targets if (path := (file.parent / target).resolve()).exists()]
    return found


def test_first_texts_are_those_of_the_first_page() -> None:
    """The others are loaded with the first page that is not the list of people, so that the first load stays small."""
    first = reached_at_once(["main.tsx", "features/people/PeoplePage.tsx"])
    wanted = texts_of([path for path in sources() if path.resolve() in first])
    everything = wanted[0] | wanted[1]
    core = json.loads((SOURCE / "texts/de-DE/core.json").read_text()).keys()
    assert sorted(everything - core) == []
    assert sorted(core - everything) == []
