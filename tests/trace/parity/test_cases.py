"""The suite's own data: there are enough cases, about all that they are to be about."""

from __future__ import annotations

from collections import Counter

import pytest

from .cases import Case, load

KEYWORDS = [
    "type", "properties", "additionalProperties", "items", "required", "enum", "minimum", "maximum",
    "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern", "format",
    "minItems", "maxItems", "minProperties", "maxProperties", "oneOf", "anyOf", "allOf", "not", "nullable",
    "default", "x-kubernetes-validations", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string", "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type",
]  # fmt: skip
BEHAVIOURS = [
    "pruning", "reading", "subresources", "strict-decoding", "metadata", "two-versions", "list-sets", "list-maps",
    "schema-ratcheting", "cel-ratcheting", "optionalOldSelf", "exhausted-budget", "rule-messages", "blocked-rules",
    "chapter", "limits",
]  # fmt: skip
# The rows of what a definition is refused for at its registration, then what it is refused for further on.
REGISTRATION = [
    "define-name", "define-group", "define-scope", "define-versions", "define-labels", "define-kind",
    "define-schema-missing", "define-columns", "define-scale", "define-selectable", "define-deprecation-warning",
    "define-conversion", "define-protected-group", "define-preserve-unknown-fields", "define-unique-items",
    "define-properties-and-additional", "define-unsupported-keywords", "define-type", "define-list-map",
    "define-rule-texts", "define-stored-versions",
    "define-update", "define-structural", "define-defaults", "define-rules", "define-rule-costs",
    "define-unknown-fields",
]  # fmt: skip
TOPICS = [*KEYWORDS, *BEHAVIOURS, *REGISTRATION]


def about(topic: str) -> list[Case]:
    return [case for case in load() if case.topic == topic]


@pytest.mark.parametrize("topic", TOPICS)
def test_each_topic_has_five_cases_and_both_verdicts(topic: str) -> None:
    cases = about(topic)
    assert len(cases) >= 5
    accepted = [case for case in cases if case.refused is None]
    assert accepted
    if topic != "reading":
        assert len(accepted) < len(cases)


def test_no_topic_is_left_out() -> None:
    assert {case.topic for case in load()} == set(TOPICS)


def test_there_are_three_hundred_different_cases_on_objects_alone() -> None:
    plays = Counter(
        f"{case.type.document}{case.type.first}{case.old}{case.body}" for case in load() if not case.defines
    )
    assert len(plays) >= 300
    assert len({str(case) for case in load()}) == len(load())
