"""Counts the steps of regular expressions: a backtracking matcher over the parse tree of Python's own parser.

It does what `re` does without its shortcuts, so its counts grow as the time of `re` does, or faster. It is slow, and
meant for texts of a few hundred characters.
"""

import importlib
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Any

# The parser that `re` itself uses; the types of the standard library do not know it.
_parser: Any = importlib.import_module("re._parser")
codes: Any = importlib.import_module("re._constants")
#: More steps than any pattern of linear time takes on the texts of the tests, ten times as many.
MAX_STEPS = 15_000
_CATEGORY_SAMPLES = {codes.CATEGORY_DIGIT: "0", codes.CATEGORY_SPACE: " ", codes.CATEGORY_WORD: "a"}
_CATEGORY_SAMPLES |= {codes.CATEGORY_NOT_DIGIT: "a", codes.CATEGORY_NOT_SPACE: "a", codes.CATEGORY_NOT_WORD: "!"}
_REPEATS = {codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT}
_MANY = 20  # a repetition that ends earlier cannot grow with the text

Node = tuple[Any, Any]


class TooManyStepsError(Exception):
    """The matcher took more than MAX_STEPS."""


class Matcher:
    """Matches one pattern. `steps` counts the comparisons of a character and the positions that are tried."""

    def __init__(self, pattern: re.Pattern[Any]) -> None:
        self.flags = pattern.flags
        source = pattern.pattern
        self.nodes: Sequence[Node] = list(_parser.parse(source, pattern.flags & ~re.DEBUG))
        self.text = ""
        self.steps = 0
        self.groups: dict[int, tuple[int, int]] = {}
        self._matchers: dict[Any, Callable[[Any, int], Iterator[int]]] = {
            codes.SUBPATTERN: self._match_group,
            codes.BRANCH: self._match_branch,
            codes.ATOMIC_GROUP: self._match_atomic,
            codes.GROUPREF: self._match_reference,
            codes.AT: lambda value, at: iter((at,) if self._is_at(value, at) else ()),
            codes.ASSERT: lambda value, at: iter((at,) if self._looks(value, at) else ()),
            codes.ASSERT_NOT: lambda value, at: iter(() if self._looks(value, at) else (at,)),
        }

    def count(self, text: str, *, is_search: bool) -> int:
        """The steps that it takes to match from the beginning, or to search: of a text without a match, all of them."""
        self.text, self.steps, self.groups = text, 0, {}
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(50_000)
        try:
            position = 0
            while position <= len(text):
                end = next(self._match(self.nodes, 0, position), None)
                if not is_search:
                    break
                position = position + 1 if end is None or end <= position else end
        except TooManyStepsError:
            pass
        finally:
            sys.setrecursionlimit(limit)
        return self.steps

    def _match(self, nodes: Sequence[Node], index: int, at: int) -> Iterator[int]:
        """Yield the positions behind each way to match the nodes from `index` on."""
        if index == len(nodes):
            yield at
            return
        for end in self._match_node(*nodes[index], at):
            yield from self._match(nodes, index + 1, end)

    def _match_node(self, code: Any, value: Any, at: int) -> Iterator[int]:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise TooManyStepsError
        if code in _REPEATS:
            least, most, body = value
            return self._match_repeat(code, least, most, body, at)
        if match := self._matchers.get(code):
            return match(value, at)
        is_match = at < len(self.text) and matches_character(code, value, self.text[at], self.flags)
        return iter((at + 1,) if is_match else ())

    def _match_group(self, value: Any, at: int) -> Iterator[int]:
        group, _, _, nodes = value
        for end in self._match(list(nodes), 0, at):
            if group is not None:
                self.groups[group] = (at, end)
            yield end

    def _match_branch(self, value: Any, at: int) -> Iterator[int]:
        for nodes in value[1]:
            yield from self._match(list(nodes), 0, at)

    def _match_atomic(self, value: Any, at: int) -> Iterator[int]:
        return islice(self._match(list(value), 0, at), 1)

    def _looks(self, value: Any, at: int) -> bool:
        # Looking back, the width is fixed.
        start = at if value[0] >= 0 else at - value[1].getwidth()[0]
        return start >= 0 and next(self._match(list(value[1]), 0, start), None) is not None

    def _match_reference(self, value: Any, at: int) -> Iterator[int]:
        start, end = self.groups.get(value, (0, 0))
        return iter((at + end - start,) if self.text.startswith(self.text[start:end], at) else ())

    def _match_repeat(self, code: Any, least: int, most: Any, body: Any, at: int) -> Iterator[int]:
        nodes = list(body)
        limit = sys.maxsize if most is codes.MAXREPEAT else most
        if code is codes.POSSESSIVE_REPEAT:
            count, end = 0, at
            while count < limit and (following := next(self._match(nodes, 0, end), None)) is not None:
                if following == end:
                    break
                count, end = count + 1, following
            if count >= least:
                yield end
            return
        if code is codes.MIN_REPEAT and least == 0:
            yield at
        if limit > 0:
            for end in self._match(nodes, 0, at):
                if end > at:
                    yield from self._match_repeat(
                        code, max(least - 1, 0), codes.MAXREPEAT if most is codes.MAXREPEAT else most - 1, body, end
                    )
        if code is codes.MAX_REPEAT and least == 0:
            yield at

    def _is_at(self, where: Any, at: int) -> bool:
        if where in {codes.AT_BEGINNING, codes.AT_BEGINNING_STRING}:
            return at == 0 or bool(self.flags & re.MULTILINE and self.text[at - 1] == "\n")
        if where in {codes.AT_END, codes.AT_END_STRING}:
            return at == len(self.text) or bool(self.flags & re.MULTILINE and self.text[at] == "\n")
        return True  # word boundaries


def matches_character(code: Any, value: Any, character: str, flags: int) -> bool:
    if code is codes.ANY:
        return bool(flags & re.DOTALL) or character != "\n"
    if code is codes.LITERAL:
        return ord(character) == value or (bool(flags & re.IGNORECASE) and character.lower() == chr(value).lower())
    if code is codes.NOT_LITERAL:
        return bool(ord(character) != value)
    if code is codes.IN:
        negated: bool = value[0][0] is codes.NEGATE
        return negated != any(_is_in(item, ord(character), character) for item in value[negated:])
    raise NotImplementedError(code)


def _is_in(item: Node, number: int, character: str) -> bool:
    code, value = item
    if code is codes.LITERAL:
        return bool(number == value)
    if code is codes.RANGE:
        return bool(value[0] <= number <= value[1])
    is_member = {
        codes.CATEGORY_DIGIT: character.isdigit(),
        codes.CATEGORY_SPACE: character.isspace(),
        codes.CATEGORY_WORD: character.isalnum() or character == "_",
    }
    opposites = {
        codes.CATEGORY_NOT_DIGIT: codes.CATEGORY_DIGIT,
        codes.CATEGORY_NOT_SPACE: codes.CATEGORY_SPACE,
        codes.CATEGORY_NOT_WORD: codes.CATEGORY_WORD,
    }
    return is_member[value] if value in is_member else not is_member[opposites[value]]


def hostile_texts(matcher: Matcher, size: int) -> Iterator[str]:
    """Texts of about `size` characters: what leads to a repetition, then what it repeats, then what ends it."""
    for prefix, pump in dict.fromkeys(_find_pumps(matcher, matcher.nodes, "")):
        repeated = pump * (size // len(pump))
        for ending in ("", "\0", "!", "a"):
            yield prefix + repeated + ending


def _find_pumps(matcher: Matcher, nodes: Sequence[Node], prefix: str) -> Iterator[tuple[str, str]]:
    """Yield what stands before a repetition, and a text that it repeats."""
    for code, value in nodes:
        if code in _REPEATS:
            least, most, body = value
            samples = [sample for sample in _samples(matcher, list(body)) if sample]
            if most is codes.MAXREPEAT or most > _MANY:
                yield from ((prefix, sample) for sample in samples)
                # Two samples in turn, for bodies with several branches.
                yield from ((prefix, one + other) for one, other in pairwise(samples))
            yield from _find_pumps(matcher, list(body), prefix)
            prefix += samples[0] * least if samples else ""
        elif code is codes.BRANCH:
            for branch in value[1]:
                yield from _find_pumps(matcher, list(branch), prefix)
            prefix += _samples(matcher, [(code, value)])[0]
        elif code in {codes.SUBPATTERN, codes.ATOMIC_GROUP}:
            inner = list(value[3] if code is codes.SUBPATTERN else value)
            yield from _find_pumps(matcher, inner, prefix)
            prefix += _samples(matcher, inner)[0]
        else:
            prefix += _samples(matcher, [(code, value)])[0]


def _samples(matcher: Matcher, nodes: Sequence[Node]) -> list[str]:
    """Some of the shortest texts that match; at least one."""
    found = [""]
    for code, value in nodes:
        if code in _REPEATS:
            options = _samples(matcher, list(value[2]))
            options = [option * max(value[0], 1) for option in options] if value[0] else ["", *options]
        elif code is codes.BRANCH:
            options = [option for branch in value[1] for option in _samples(matcher, list(branch))]
        elif code is codes.SUBPATTERN:
            options = _samples(matcher, list(value[3]))
        elif code is codes.ATOMIC_GROUP:
            options = _samples(matcher, list(value))
        elif code in {codes.AT, codes.ASSERT, codes.ASSERT_NOT, codes.GROUPREF}:
            options = [""]
        else:
            options = _character_samples(matcher, code, value)
        found = [one + other for one in found for other in options][:6]
    return found or [""]


def _character_samples(matcher: Matcher, code: Any, value: Any) -> list[str]:
    candidates = ["a", "0", " ", "\t", "\n", "'", '"', "\\", ",", ";", "-", "A", ".", "/", "*", "é", "あ"]
    if code is codes.LITERAL:
        candidates = [chr(value)]
    elif code is codes.IN:
        first = next((item[1] for item in value if item[0] is codes.LITERAL), None)
        candidates = [*([chr(first)] if first is not None else []), *candidates]
        candidates += [chr(item[1][0]) for item in value if item[0] is codes.RANGE]
    return [one for one in dict.fromkeys(candidates) if matches_character(code, value, one, matcher.flags)][:3] or [""]
