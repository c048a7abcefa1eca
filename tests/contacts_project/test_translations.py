"""Every translatable text has a translation in all six languages, with the same placeholders."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import polib
import pytest
from django.conf import settings
from django.utils import translation

from contacts_project import apps
from contacts_project.kernel.texts import registry
from people.vcard import limits  # noqa: F401 - defines the names of fields

LOCALES = [translation.to_locale(code) for code, _ in settings.LANGUAGES if code != "en"]
APPS = ["accounts", "people", "relationships", "carddav", "meetings", "notifications", "sharing", "contacts_project"]
_SINGLE = {"_", "gettext", "gettext_lazy", "gettext_noop"}
_PLURAL = {"ngettext", "ngettext_lazy"}
TRANSLATE = re.compile(r'{%\s*translate\s+"([^"]+)"')
BLOCK = re.compile(r"{%\s*blocktranslate[^%]*%}(.*?){%\s*endblocktranslate\s*%}", re.DOTALL)
PLACEHOLDER = re.compile(r"%\(\w+\)\w|{\w+}")


@cache
def source_texts() -> set[str]:
    """The msgids that the code and the templates pass to gettext."""
    texts: set[str] = set()
    for app in APPS:
        for file in (settings.BASE_DIR / app).rglob("*.py"):
            texts |= set(_texts_of(file))
    for folder in [settings.BASE_DIR / "templates", *(settings.BASE_DIR / app / "templates" for app in APPS)]:
        for file in folder.rglob("*.*"):
            source = file.read_text()
            texts |= set(TRANSLATE.findall(source))
            texts |= {re.sub(r"{{\s*(\w+)\s*}}", r"%(\1)s", block) for block in BLOCK.findall(source)}
    # The names of fields are derived from their table, and so are no constants in the code.
    return texts | {text.english for text in registry.values() if not text.code.endswith("_of_test")}


def _texts_of(file: Path) -> Iterator[str]:
    source = file.read_text()
    if "gettext" not in source and "define_text" not in source:
        return  # wherever a marker comes from, it is imported by a name of gettext's
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", "")
            texts: list[ast.expr] = node.args[: 1 if name in _SINGLE else 2 if name in _PLURAL else 0]
            if name == "define_text":  # the code, the text; the plural
                texts = [*node.args[1:2], *(word.value for word in node.keywords if word.arg == "plural")]
            yield from (text.value for text in texts if isinstance(text, ast.Constant) and isinstance(text.value, str))


@cache
def catalogue(locale: str) -> dict[str, list[str]]:
    """All translations of a locale, by source text (plural texts under their singular and plural)."""
    found: dict[str, list[str]] = {}
    for po in apps.po_files():
        if po.parts[-3] == locale:
            for entry in polib.pofile(str(po)):
                if not entry.obsolete:
                    values = list(entry.msgstr_plural.values()) or [entry.msgstr]
                    for text in filter(None, (entry.msgid, entry.msgid_plural)):
                        found[text] = values if entry.translated() else [""]  # of a fuzzy one nobody sees anything
    return found


@pytest.mark.parametrize("locale", LOCALES)
def test_every_text_has_a_translation(locale: str) -> None:
    assert len(source_texts()) > 20
    assert source_texts() - set(catalogue(locale)) == set(), f"add these to a catalogue of {locale}"
    assert [text for text, values in catalogue(locale).items() if not all(values)] == []


@pytest.mark.parametrize("locale", LOCALES)
def test_placeholders_of_translations_match(locale: str) -> None:
    for text, values in catalogue(locale).items():
        for value in values:
            assert sorted(PLACEHOLDER.findall(value)) == sorted(PLACEHOLDER.findall(text)), (text, value)


#: The words that are the same in another language, beside values and names of settings.
SAME_WORDS = {
    "UID",
    "Person",
    "%(field)s: %(problem)s",
    "%(href)s: %(reason)s",
    "%(name)s: %(reason)s",
    "%(name)s (%(href)s): %(reason)s",
    "%(noun)s %(number)s: %(reason)s",
    "%(noun)s %(number)s (%(name)s): %(reason)s",
}


@pytest.mark.parametrize("locale", LOCALES)
def test_no_sentence_of_an_error_is_left_in_english(locale: str) -> None:
    assert len(registry) > 400
    texts = {text.english for text in registry.values()} - SAME_WORDS
    same = {text for text in texts if catalogue(locale).get(text) == [text]}
    assert {text for text in same if " " in text} == set()
    assert len(same) < 20


def test_code_belongs_to_one_text_in_the_whole_project() -> None:
    found: dict[str, set[str]] = {}
    for app in APPS:
        for file in (settings.BASE_DIR / app).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())) if "define_text" in file.read_text() else ():
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "define_text":
                    code, english = (getattr(argument, "value", "") for argument in node.args[:2])
                    if code:
                        assert re.fullmatch(r"[a-z][a-z0-9_]{1,60}", code), code
                        found.setdefault(code, set()).add(english)
    assert {code: texts for code, texts in found.items() if len(texts) > 1} == {}


@pytest.mark.parametrize(("code", "word"), [("de-DE", "Abbestellen"), ("ja-JP", "配信を停止"), ("en", "Unsubscribe")])
def test_compiled_catalogues_are_used(code: str, word: str) -> None:
    with translation.override(code):
        assert translation.gettext("Unsubscribe") == word


def test_changed_po_file_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    po = tmp_path / "de_DE" / "LC_MESSAGES" / "django.po"
    po.parent.mkdir(parents=True)
    file = polib.POFile()
    file.metadata = {"Content-Type": "text/plain; charset=utf-8"}
    file.append(polib.POEntry(msgid="House", msgstr="Haus"))
    file.save(str(po))
    monkeypatch.setattr(apps, "po_files", lambda: [po])
    assert apps.compile_outdated() == [po.with_suffix(".mo")]
    assert apps.compile_outdated() == []
    assert polib.mofile(str(po.with_suffix(".mo"))).find("House").msgstr == "Haus"


def test_read_only_folder_is_not_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    po = tmp_path / "gone" / "django.po"
    monkeypatch.setattr(apps, "po_files", lambda: [po])
    assert apps.compile_outdated() == []
