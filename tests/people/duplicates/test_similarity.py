"""The similarity of two people, tested with labelled pairs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from people.duplicates.similarity import THRESHOLD, Identity, may_reach_threshold, similarity
from people.names import NameParts
from tests.people.duplicates.labelled import PAIRS, LabelledPair, who
from tests.rounds import rounds

# Pairs that spelling cannot decide, by their `why`. They are expected to be wrong: fixing one would break others.
UNDECIDABLE = {
    "another short form: a person knows, letters do not",
    "another script: nothing is transliterated",
    "short form without anything else",
    "two of one name, unknown to letters",
    "given names one letter longer",
}


def _is_found(pair: LabelledPair) -> bool:
    return similarity(pair.one, pair.other) >= THRESHOLD


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.why)
def test_labelled_pair(pair: LabelledPair) -> None:
    assert (_is_found(pair) == pair.same) is (pair.why not in UNDECIDABLE), similarity(pair.one, pair.other)


def test_precision_and_recall_over_the_table(record_property: pytest.FixtureRequest) -> None:
    found = [pair for pair in PAIRS if _is_found(pair)]
    right = sum(pair.same for pair in found)
    precision, recall = right / len(found), right / sum(pair.same for pair in PAIRS)
    print(f"{len(PAIRS)} labelled pairs: precision {precision:.3f}, recall {recall:.3f}")  # noqa: T201 - shown by -rP
    assert len(PAIRS) >= 60
    assert precision >= 0.95
    assert recall >= 0.94


NAMES = st.builds(
    NameParts,
    st.text(min_size=1, max_size=12),
    st.none() | st.text(max_size=12),
    st.none() | st.text(max_size=8),
    st.none() | st.text(max_size=8),
    st.none() | st.text(max_size=8),
)


@settings(deadline=None)
@given(NAMES, NAMES)
def test_any_two_names_have_one_similarity_in_either_direction(one: NameParts, other: NameParts) -> None:
    first, second = who(*one[:2], **_parts(one)), who(*other[:2], **_parts(other))
    assert similarity(first, second) == similarity(second, first)
    assert 0 <= similarity(first, second) <= 1


SIMPLE = st.builds(
    NameParts, st.text("acdhiknpty", min_size=1, max_size=9), st.text("acdhiknpty", min_size=1, max_size=9)
)


@settings(deadline=None, max_examples=rounds(100))
@given(SIMPLE, SIMPLE, st.integers(0, 9), st.sampled_from("ahkpt"))
def test_pairs_excluded_early_never_reach_the_threshold(
    one: NameParts, other: NameParts, place: int, letter: str
) -> None:
    slip = NameParts(
        one.name[:place] + letter + one.name[place + 1 :], (one.surname or "")[::-1] if place > 8 else one.surname
    )
    for first, second in ((one, other), (one, slip), (slip, NameParts(one.surname or "", one.name))):
        if not may_reach_threshold(who(*first[:2]), who(*second[:2])):
            assert similarity(who(*first[:2]), who(*second[:2])) < THRESHOLD


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.why)
def test_no_labelled_match_is_excluded_early(pair: LabelledPair) -> None:
    assert may_reach_threshold(pair.one, pair.other) or not _is_found(pair)


def _parts(name: NameParts) -> dict[str, str]:
    columns = ("middle_name", "second_last_name", "nickname")
    return {column: value for column, value in zip(columns, name[2:5], strict=True) if value}


def _both(**more: str) -> float:
    return similarity(who("Ada", "Lovelace", **more), who("Ada", "Lovelase", **more))


def test_equal_email_phone_or_birthday_raises_the_similarity() -> None:
    alone = _both()
    assert alone < _both(born="--12-10") < _both(born="1815-12-10") < _both(phone="030 123456") < _both(email="a@x.org")


def test_different_birthday_lowers_the_similarity() -> None:
    ada = who("Ada", "Lovelace", born="1815-12-10")
    assert similarity(ada, who("Ada", "Lovelace", born="1815-12-11")) < similarity(ada, who("Ada", "Lovelace"))


def test_similarity_of_equal_people_is_just_below_one() -> None:
    everything = who("Ada", "Lovelace", email="a@x.org", phone="030 123456", born="1815-12-10")
    assert 0.99 <= similarity(everything, everything) < 1


@pytest.mark.parametrize("lone", [who("Ada"), who("X"), who("!!!"), who("太郎"), who("Jean-Luc")])
def test_a_lone_given_name_never_reaches_the_threshold(lone: Identity) -> None:
    assert lone.name.is_lone
    assert similarity(lone, lone) < THRESHOLD
