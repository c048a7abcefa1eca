"""The displayed name in the TypeScript kit is that of the service."""

import itertools
import json

import pytest

from accounts.vocabularies import NameDisplayFormat, NameOrder
from people.names import NameParts, display_name
from tests.npm import NODE, TYPESCRIPT, run

PEOPLE = [
    NameParts("Ada"),
    NameParts("Ada", "Lovelace", "Augusta", "Byron", "Countess", "Lady", "FRS"),
    NameParts("Ada", "Lovelace", display_name_override="The Countess"),
    NameParts("小百合", "吉永"),
    NameParts("小百合", "吉永", nickname="Sayuri"),
    NameParts("小百合", "吉永", nickname="サユリ"),
    NameParts("Sayuri", "吉永", "", "𠮷", None, "様"),
    NameParts("철수", "김", nickname='"별"'),
    NameParts("", "Nobody", nickname=""),
    NameParts("小百合", "吉永", "々", "𠮷", "Sayuri", "Dr.", "様"),
    NameParts("王伟"),
    NameParts("ﾊﾅｺ", "ﾔﾏﾀﾞ"),
    NameParts("ジョン・", "スミス"),
    NameParts("花子", "山田", "M."),
    NameParts("1", "2", "ー"),
    NameParts("ö", "山田"),
]
PROGRAM = """
import { displayName } from "./src/names.ts";
const cases = JSON.parse(process.argv[1]);
process.stdout.write(JSON.stringify(cases.map(([person, settings]) => displayName(person, settings))));
"""


@pytest.mark.parametrize("order", NameOrder.values)
def test_names_are_those_of_the_service(order: str) -> None:
    keys = ("name", "surname", "middleName", "secondLastName", "nickname", "prefix", "suffix", "displayNameOverride")
    cases = list(itertools.product(PEOPLE, NameDisplayFormat.values))
    given = [
        [dict(zip(keys, parts, strict=True)), {"nameOrder": order, "nameDisplayFormat": form}] for parts, form in cases
    ]
    found = json.loads(
        run([NODE, "--no-warnings", "--input-type=module", "-e", PROGRAM, json.dumps(given)], TYPESCRIPT)
    )
    assert found == [display_name(parts, order=order, form=form) for parts, form in cases]
