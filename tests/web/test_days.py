"""Days, the clock and the week as in the region of the browser; dates in digits as in the account and its language."""

from typing import Any

import pytest

from tests.web.modules import run_in_client

_PROGRAM = """
Object.defineProperty(globalThis, "navigator", { value: { languages: input.browser }, configurable: true });
const { setLanguage, locale } = await load("i18n/index.ts");
const days = await load("i18n/days.ts");
await setLanguage(input.language);
return {
  locale: locale(),
  day: days.dayInWords("2026-11-28", { weekday: "long", day: "numeric", month: "long" }),
  clock: days.clockInWords(new Date("2026-11-28T13:44:00Z"), "UTC").replace(/\\s/g, " "),
  week: days.weekOf("2026-11-28"),
  formats: ["DMY", "MDY", "YMD"].map((format) => days.formatDay("2026-12-31", format)),
  withoutYear: ["DMY", "MDY", "YMD"].map((format) => days.formatDay("1604-12-31", format)),
};
"""


def shown(language: str, *browser: str) -> Any:
    return run_in_client(_PROGRAM, {"language": language, "browser": browser})


@pytest.mark.parametrize(
    ("language", "browser", "locale", "day", "clock", "week"),
    [
        ("en", ["en-GB"], "en-GB", "Saturday 28 November", "13:44", "2026-11-23"),
        ("en", ["en-US"], "en-US", "Saturday, November 28", "1:44 PM", "2026-11-22"),
        ("en", ["de-DE", "de"], "en-DE", "Saturday, 28 November", "13:44", "2026-11-23"),
        ("de-DE", ["en-US", "de-AT"], "de-AT", "Samstag, 28. November", "13:44", "2026-11-23"),
        ("nb-NO", ["no", "en-US"], "nb-NO", "lørdag 28. november", "13:44", "2026-11-23"),
    ],
)
def test_region_is_that_of_the_browser(
    language: str, browser: list[str], locale: str, day: str, clock: str, week: str
) -> None:
    found = shown(language, *browser)
    assert (found["locale"], found["day"], found["clock"], found["week"]) == (locale, day, clock, week)


@pytest.mark.parametrize(
    ("language", "whole", "without_year"),
    [("en", "31/12/2026", "31/12"), ("de-DE", "31.12.2026", "31.12."), ("fr-FR", "31/12/2026", "31/12")],
)
def test_digits_are_separated_as_in_the_language(language: str, whole: str, without_year: str) -> None:
    found = shown(language, "en-US")
    assert found["formats"] == [whole, "12/31/2026", "2026-12-31"]
    assert found["withoutYear"] == [without_year, "12/31", "12-31"]
