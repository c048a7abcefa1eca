"""Six languages: every text the code and the templates mark is translated into each, and in use."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import polib
import pytest
from django.conf import settings
from django.utils import translation
from django.utils.translation import to_locale

from contacts_project.translations import po_files

ROOT = Path(settings.BASE_DIR)
APPS = ("contacts_project", "accounts", "people", "relationships", "carddav", "notifications")
MARKERS = {"_", "gettext", "gettext_lazy", "gettext_noop", "ngettext", "ngettext_lazy"}
LOCALES = [to_locale(code) for code, _ in settings.LANGUAGES if code != "en"]
TRANSLATE = re.compile(r'{%\s*translate\s+"([^"]+)"')
BLOCK = re.compile(r"{%\s*blocktranslate[^%]*%}(.*?){%\s*endblocktranslate\s*%}", re.DOTALL)
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]")


def marked() -> Iterator[str]:
    """Every message that code or a template marks."""
    for app in APPS:
        for file in (ROOT / app).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MARKERS:
                    first = node.args[0]
                    if isinstance(first, ast.Constant) and isinstance(first.value, str):
                        yield first.value
    for folder in [ROOT / "templates", *(ROOT / app / "templates" for app in APPS)]:
        for file in folder.rglob("*.*"):
            text = file.read_text()
            yield from TRANSLATE.findall(text)
            yield from (re.sub(r"{{\s*(\w+)\s*}}", r"%(\1)s", block) for block in BLOCK.findall(text))


@pytest.mark.parametrize("locale", LOCALES)
def test_every_message_is_translated(locale: str) -> None:
    files = [file for file in po_files() if file.parent.parent.name == locale]
    entries = {entry.msgid: entry for file in files for entry in polib.pofile(str(file)) if not entry.obsolete}
    messages = set(marked())
    assert len(messages) > 20
    assert messages - set(entries) == set(), f"add these to a catalogue of {locale}"
    for entry in entries.values():
        texts = list(entry.msgstr_plural.values()) if entry.msgid_plural else [entry.msgstr]
        expected = sorted(PLACEHOLDER.findall(entry.msgid))
        for text in texts:
            assert text, f"{entry.msgid} is not translated"
            assert sorted(PLACEHOLDER.findall(text)) == expected, entry.msgid


@pytest.mark.parametrize(("code", "word"), [("de-DE", "Abbestellen"), ("ja-JP", "配信を停止"), ("en", "Unsubscribe")])
def test_compiled_catalogues_are_in_use(code: str, word: str) -> None:
    with translation.override(code):
        assert translation.gettext("Unsubscribe") == word
