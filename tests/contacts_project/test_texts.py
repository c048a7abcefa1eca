"""Every text for people has a code, parameters, and words in the six languages."""

import pytest
from django.utils.translation import override

from contacts_project.kernel.api.errors import InvalidError, flatten_detail
from contacts_project.kernel.texts import Text, define_text, registry

_LIMIT = Text("limit_of_test", "At most %(limit)s of %(year)d", params={"limit": 20_000, "year": 2026})


def test_text_takes_exactly_its_placeholders() -> None:
    text = Text("greeting_of_test", "Hello %(name)s")
    assert str(text.format(name="Ada")) == "Hello Ada"
    with pytest.raises(TypeError):
        text.format()
    with pytest.raises(TypeError):
        text.format(name="Ada", other=1)


def test_code_belongs_to_one_text() -> None:
    code, known = next(iter(registry.items()))
    assert define_text(code, known.english) == known
    with pytest.raises(ValueError, match=code):
        define_text(code, known.english + "!")


@pytest.mark.parametrize(
    ("language", "expected"), [("en", "At most 20,000 of 2026"), ("de-DE", "At most 20.000 of 2026")]
)
def test_numbers_are_written_as_in_the_language(language: str, expected: str) -> None:
    with override(language):
        assert str(_LIMIT) == expected


def test_stored_text_is_read_again() -> None:
    reason = Text("reason_of_test", "%(count)s cat", plural="%(count)s cats", number="count", params={"count": 2})
    whole = Text("whole_of_test", "%(things)s: %(reason)s", params={"things": ["a", "b"], "reason": reason})
    again = Text.from_stored(whole.to_stored())
    assert again == whole
    assert reason.describe() == {"code": "reason_of_test", "params": {"count": 2}, "text": "2 cats"}
    assert again.describe() == {
        "code": "whole_of_test",
        "params": {
            "things": ["a", "b"],
            "reason": {"code": "reason_of_test", "params": {"count": 2}, "text": "2 cats"},
        },
        "text": "a, b: 2 cats",
    }
    assert str(Text.from_stored("a plain string of an older row, 100 %")) == "a plain string of an older row, 100 %"


def test_stored_text_follows_the_current_wording(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = Text("worded_of_test", "Old: %(name)s", params={"name": "Ada"}).to_stored()
    assert str(Text.from_stored(stored)) == "Old: Ada"
    monkeypatch.setitem(registry, "worded_of_test", Text("worded_of_test", "New: %(name)s"))
    assert str(Text.from_stored(stored)) == "New: Ada"
    monkeypatch.setitem(registry, "worded_of_test", Text("worded_of_test", "New: %(other)s"))
    assert str(Text.from_stored(stored)) == "Old: Ada"


def test_texts_pass_through_the_errors_of_serializers() -> None:
    error = InvalidError({"emails": {"0": [_LIMIT]}, "non_field_errors": [_LIMIT]})
    assert list(flatten_detail(InvalidError({"outer": error.detail}).detail)) == [
        ("outer.emails.0", _LIMIT),
        ("outer", _LIMIT),
    ]
