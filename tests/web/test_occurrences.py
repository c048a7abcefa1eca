"""Which days come: a year looked through week by week has the days of the year as a whole, for any date and rule."""

import pytest

from tests.web.modules import run_in_client

_PROGRAM = """
const { occurrences } = await load("features/dates/occurrences.ts");
const { addDays } = await load("i18n/days.ts");
const account = {
  settings: { value: { leapDayRule: input.rule } },
  person: (id) => ({ id, name: id, sortKey: id, isQuiet: false, hasDied: false }),
};
const rules = [
  { reminderEnabled: false },
  { reminderEnabled: true, reminderType: "RECURRING", reminderInterval: 1, reminderIntervalUnit: "YEARS" },
  { reminderEnabled: true, reminderType: "RECURRING", reminderInterval: 2, reminderIntervalUnit: "YEARS" },
  { reminderEnabled: true, reminderType: "RECURRING", reminderInterval: 5, reminderIntervalUnit: "WEEKS" },
  { reminderEnabled: true, reminderType: "RECURRING", reminderInterval: 1, reminderIntervalUnit: "MONTHS" },
  { reminderEnabled: true, reminderType: "ONCE" },
];
const days = ["1984-02-29", "1990-01-31", "2001-12-31", "2001-01-01", "2026-11-28", "2027-02-28", "2030-05-01"];
const dates = days.flatMap((date, at) =>
  rules.map((rule, number) => ({ id: `${at} ${number}`, personId: "p", type: "BIRTHDAY", date, ...rule })));
const daysOf = (from, to) => occurrences(account, dates, from, to).map(({ id }) => id);
const whole = daysOf("2026-11-28", "2028-11-25");
const weeks = [];
for (let day = "2026-11-28"; day <= "2028-11-25"; day = addDays(day, 7)) {
  const last = addDays(day, 6);
  weeks.push(...daysOf(day, last < "2028-11-25" ? last : "2028-11-25"));
}
return { whole: whole.sort(), weeks: weeks.sort() };
"""


@pytest.mark.parametrize("rule", ["FEB28", "MAR1"])
def test_weeks_have_the_days_of_the_year(rule: str) -> None:
    found = run_in_client(_PROGRAM, {"rule": rule})
    assert found["weeks"] == found["whole"]
    assert len(found["whole"]) > 100
