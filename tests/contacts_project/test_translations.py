"""Every text for people is there in all six languages, with the same placeholders."""

import ast
import re
from pathlib import Path
from typing import Any

import polib
import pytest
from django.conf import settings
from django.utils import translation

from contacts_project import translations

LOCALES = [translation.to_locale(code) for code, _ in settings.LANGUAGES if code != "en"]
APPS = ["accounts", "people", "relationships", "carddav", "notifications", "contacts_project"]
_SINGLE = {"_", "gettext", "gettext_lazy", "gettext_noop"}
_PLURAL = {"ngettext", "ngettext_lazy"}


def source_texts() -> set[str]:
    """The texts that the code and the templates ask gettext for."""
    texts: set[str] = set()
    for app in APPS:
        for file in (settings.BASE_DIR / app).rglob("*.py"):
            texts |= set(_texts_of(file))
    for file in (settings.BASE_DIR / "templates").rglob("*.*"):
        source = file.read_text()
        texts |= set(re.findall(r"{% translate \"([^\"]*)\"", source))
        for block in re.findall(r"{% blocktranslate %}(.*?){% endblocktranslate %}", source, re.DOTALL):
            texts.add(re.sub(r"{{ (\w+) }}", r"%(\1)s", block))
    return texts


def _texts_of(file: Path) -> list[str]:
    found: list[str] = []
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", "")
            texts = node.args[: 1 if name in _SINGLE else 2 if name in _PLURAL else 0]
            found += [text.value for text in texts if isinstance(text, ast.Constant) and isinstance(text.value, str)]
    return found


def catalogue(locale: str) -> dict[str, list[str]]:
    """All translations of a locale, by source text (plural texts under their singular and plural)."""
    found: dict[str, list[str]] = {}
    for po in translations.po_files():
        if po.parts[-3] == locale:
            for entry in polib.pofile(str(po)).translated_entries():
                values = list(entry.msgstr_plural.values()) or [entry.msgstr]
                for text in filter(None, (entry.msgid, entry.msgid_plural)):
                    found[text] = values
    return found


@pytest.mark.parametrize("locale", LOCALES)
def test_every_text_is_translated(locale: str) -> None:
    assert source_texts() - set(catalogue(locale)) == set()


@pytest.mark.parametrize("locale", LOCALES)
def test_placeholders_are_the_same(locale: str) -> None:
    for text, values in catalogue(locale).items():
        wanted = set(re.findall(r"%\(\w+\)\w|{\w+}", text))
        for value in values:
            assert set(re.findall(r"%\(\w+\)\w|{\w+}", value)) <= wanted, (text, value)
            assert wanted <= set(re.findall(r"%\(\w+\)\w|{\w+}", value)) or len(values) > 1, (text, value)


def test_a_newer_po_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    po = tmp_path / "de_DE" / "LC_MESSAGES" / "django.po"
    po.parent.mkdir(parents=True)
    file = polib.POFile()
    file.metadata = {"Content-Type": "text/plain; charset=utf-8"}
    file.append(polib.POEntry(msgid="House", msgstr="Haus"))
    file.save(str(po))
    monkeypatch.setattr(translations, "po_files", lambda: [po])
    assert translations.compile_stale() == [po.with_suffix(".mo")]
    assert translations.compile_stale() == []
    assert polib.mofile(str(po.with_suffix(".mo"))).find("House").msgstr == "Haus"


def test_a_read_only_folder_is_no_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    po = tmp_path / "gone" / "django.po"
    monkeypatch.setattr(translations, "po_files", lambda: [po])
    assert translations.compile_stale() == []
