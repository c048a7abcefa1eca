"""Display names, and the sort and search keys of people."""

import pytest

from contacts_project.kernel.text_forms import fold
from people.names import EASTERN, FULL, NICKNAME_PREFERRED, SHORT, WESTERN, NameParts, display_name, sort_key

ADA = NameParts("Ada", "Lovelace", "King", "Byron", "Countess", "Lady", "FRS")
HANAKO = NameParts("花子", "山田")


@pytest.mark.parametrize(
    ("parts", "order", "form", "shown"),
    [
        (ADA, WESTERN, FULL, 'Lady Ada King "Countess" Lovelace Byron FRS'),
        (ADA, EASTERN, FULL, 'Lovelace Byron Ada King "Countess"'),
        (ADA, WESTERN, NICKNAME_PREFERRED, "Countess Lovelace"),
        (ADA, EASTERN, NICKNAME_PREFERRED, "Lovelace Countess"),
        (ADA, WESTERN, SHORT, "Countess"),
        (NameParts("Ada"), WESTERN, SHORT, "Ada"),
        (NameParts("Ada"), EASTERN, FULL, "Ada"),
        (HANAKO, EASTERN, FULL, "山田花子"),
        (HANAKO, WESTERN, FULL, "山田花子"),
        # A nickname stands behind with a blank, and does not decide whether the name has one.
        (HANAKO._replace(nickname="Hana"), EASTERN, FULL, '山田花子 "Hana"'),
        (HANAKO._replace(nickname="はな"), EASTERN, FULL, '山田花子 "はな"'),
        (HANAKO._replace(nickname="Hana", prefix="Dr.", suffix="様"), WESTERN, FULL, 'Dr. 山田花子 "Hana" 様'),
        (HANAKO._replace(nickname="Hana"), WESTERN, NICKNAME_PREFERRED, "Hana 山田"),
        (HANAKO._replace(nickname="はな"), WESTERN, NICKNAME_PREFERRED, "山田はな"),
        (HANAKO, WESTERN, SHORT, "花子"),
        (NameParts("王伟"), WESTERN, FULL, "王伟"),
        (NameParts("伟", "王", "明", "李"), WESTERN, FULL, "王李伟明"),
        (NameParts("철수", "김"), WESTERN, FULL, "김철수"),
        (NameParts("ﾊﾅｺ", "ﾔﾏﾀﾞ"), WESTERN, FULL, "ﾔﾏﾀﾞﾊﾅｺ"),
        (NameParts("さくら", "佐々木"), WESTERN, FULL, "佐々木さくら"),
        (NameParts("ジョン・F", "ケネディ"), WESTERN, FULL, "ジョン・F ケネディ"),
        (NameParts("ジョン・スミス"), WESTERN, FULL, "ジョン・スミス"),
        (NameParts("ジョン・", "スミス"), WESTERN, FULL, "ジョン・ スミス"),
        (NameParts("Hanako", "山田"), WESTERN, FULL, "Hanako 山田"),
        (NameParts("花子", "山田", "M."), WESTERN, FULL, "花子 M. 山田"),
        (NameParts("1", "2"), WESTERN, FULL, "1 2"),
        (ADA._replace(display_name_override="The Countess"), EASTERN, SHORT, "The Countess"),
    ],
)
def test_display_name(parts: NameParts, order: str, form: str, shown: str) -> None:
    assert display_name(parts, order=order, form=form) == shown


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("José", "jose"),
        ("Łukasz  Øster", "lukasz oster"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("ﬁn", "fin"),
        ("が", "が"),
        ("İstanbul", "istanbul"),
        ("\u0301\u0301", "\u0301\u0301"),
        ("한국", "한국"),
    ],
)
def test_fold(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_sort_key_compares_name_before_surname() -> None:
    people = [NameParts("Ann", "Zander"), NameParts("Anna", "Abel"), NameParts("ann", "Ábel")]
    assert sorted(people, key=sort_key) == [people[2], people[0], people[1]]
