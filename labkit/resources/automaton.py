"""Searching in time linear in the text: a nondeterministic automaton, made deterministic as texts are met.

Nodes (made by labkit.resources.patterns): ``("set", ranges)`` one character, ``("assert", what)`` no character,
``("cat", nodes)``, ``("alt", nodes)``, ``("rep", node, least, most or None)``.

A state is the set of places the pattern may be at, and what kind of character came before (assertions look at it).
Every step taken is remembered, so the usual step is one dictionary look-up: a text whose steps have all been taken
before is followed from dict to dict, without a look at the places.
"""

from __future__ import annotations

from typing import Any

__all__ = ["Automaton", "Node"]

Node = tuple[Any, ...]

_MAX_PLACES = 20_000
_MAX_REMEMBERED = 50_000  # steps; then all are forgotten, which costs time and no answer
_BEGIN, _WORD, _NEWLINE, _OTHER = range(4)


class _Found(dict[str, Any]):
    """The steps after the pattern was found: whatever comes, it stays so."""

    def __missing__(self, char: str) -> Any:
        return self if char else True


_FOUND = _Found()


class _State:
    """*after*: character → the state after it, or whether the pattern is found; *steps*: the same, as dicts only."""

    __slots__ = ("after", "before", "places", "steps")

    def __init__(self, places: frozenset[int], before: int) -> None:
        self.places = places
        self.before = before
        self.after: dict[str, _State | bool] = {}
        self.steps: dict[str, Any] = {}


class Automaton:
    """A compiled pattern. Raises OverflowError for one that would need more than 20,000 places."""

    def __init__(self, tree: Node) -> None:
        # A place: ("set", ranges, next) | ("split", next, next) | ("assert", what, next) | ("found",)
        self._places: list[tuple[Any, ...]] = [("found",)]
        self._start = self._compile(tree, 0)
        self._states: dict[tuple[frozenset[int], int], _State] = {}
        self._remembered = 0
        self._first = self._state(frozenset(), _BEGIN)

    def search(self, text: str) -> bool:
        """Whether the pattern is found anywhere in *text*."""
        steps = self._first.steps
        try:
            for char in text:
                steps = steps[char]
            return steps[""] is True
        except KeyError:  # a step that was never taken
            return self._follow(text)

    def _follow(self, text: str) -> bool:
        state = self._first
        for char in text:
            after = state.after.get(char) or self._step(state, char)
            if after is True:
                return True
            state = after  # type: ignore[assignment]  # never False: only the end of the text answers no
        return self._step(state, "") is True

    def _add(self, place: tuple[Any, ...]) -> int:
        if len(self._places) >= _MAX_PLACES:
            raise OverflowError("too many places")
        self._places.append(place)
        return len(self._places) - 1

    def _compile(self, node: Node, then: int) -> int:
        """The place where *node* begins, if what follows it begins at *then*."""
        kind = node[0]
        if kind in ("set", "assert"):
            return self._add((kind, node[1], then))
        if kind == "cat":
            for part in reversed(node[1]):
                then = self._compile(part, then)
            return then
        if kind == "alt":
            begins = [self._compile(part, then) for part in node[1]]
            first = begins[-1]
            for begin in reversed(begins[:-1]):
                first = self._add(("split", begin, first))
            return first
        _, inner, least, most = node
        if most is None:
            again = self._add(("split", then, then))
            self._places[again] = ("split", self._compile(inner, again), then)
            then = again
        else:
            end = then
            for _ in range(most - least):
                then = self._add(("split", self._compile(inner, then), end))
        for _ in range(least):
            then = self._compile(inner, then)
        return then

    def _state(self, places: frozenset[int], before: int) -> _State:
        state = self._states.get((places, before))
        if state is None:
            state = self._states[places, before] = _State(places, before)
        return state

    def _step(self, state: _State, char: str) -> _State | bool:
        """The state after *char* ("" is the end of the text): True if found, False if never."""
        if self._remembered > _MAX_REMEMBERED:
            self._states.clear()
            self._first.steps.clear()
            self._first.after.clear()
            self._remembered = 0
            self._states[self._first.places, self._first.before] = self._first
        reached = self._reached(state, char)
        following: _State | bool
        if 0 in reached:
            following = True
        elif not char:
            following = False
        else:
            code = ord(char)
            kept = frozenset(
                place[2]
                for place in (self._places[number] for number in reached)
                if place[0] == "set" and any(low <= code <= high for low, high in place[1])
            )
            following = self._state(kept, _kind(char))
        state.after[char] = following
        if isinstance(following, _State):
            state.steps[char] = following.steps
        else:
            state.steps[char] = following if not char else _FOUND
        self._remembered += 1
        return following

    def _reached(self, state: _State, char: str) -> set[int]:
        """All places reached from *state* without taking a character, when *char* comes next."""
        reached: set[int] = set()
        pending = [self._start, *state.places]
        while pending:
            number = pending.pop()
            if number in reached:
                continue
            reached.add(number)
            place = self._places[number]
            if place[0] == "split":
                pending.extend(place[1:])
            elif place[0] == "assert" and _holds(place[1], state.before, char):
                pending.append(place[2])
        return reached


def _kind(char: str) -> int:
    if char == "\n":
        return _NEWLINE
    return _WORD if char.isascii() and (char.isalnum() or char == "_") else _OTHER


def _holds(what: str, before: int, char: str) -> bool:
    if what == "text begins":
        return before == _BEGIN
    if what == "text ends":
        return not char
    if what == "line begins":
        return before in (_BEGIN, _NEWLINE)
    if what == "line ends":
        return char in ("", "\n")
    edge = (before == _WORD) != (bool(char) and _kind(char) == _WORD)
    return edge if what == "word edge" else not edge
