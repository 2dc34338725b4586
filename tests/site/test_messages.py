"""The page of the server's messages: none of the chapter is left out, and what is said to give a message gives it."""

from __future__ import annotations

import re
from html import unescape

import pytest
from playwright.sync_api import Page

from labkit.course import manifests, outputs, sanitize
from labkit.course.notebook import Step
from labkit.errors import BadDocument, NotebookError
from labkit.languages import LANGUAGES
from labkit.site import messages, playground
from labkit.site.message_texts import MESSAGES, NOT_COVERED, PLACES, Given, Message
from labkit.site.messages import Texts, complaint
from labkit.trace import engine

from .conftest import ROOT, judged, printed

STEPS = messages.steps(ROOT)
PLAYED = [one for one in MESSAGES if one.given is not None and one.played]
_COMPLAINT = re.compile(r"error: |Error |Warning: |The (request|\S+ \".*\") is invalid|\* |ensure CRDs")


def ids(found: list[Message]) -> list[str]:
    return [one.anchor for one in found]


def step(name: str) -> Step:
    return STEPS[name][1]


def plain(line: str) -> str:
    """A complaint without what differs from run to run; of a refused patch, without the patch."""
    return re.sub(r"^.*(?=strict decoding error: )", "", sanitize.text(complaint(line)))


def played(given: Given) -> tuple[str, list[str]]:
    """The verdict of the trace, and its lines, warnings among them."""
    made = Texts(given, ROOT)
    if not given.object:
        defined = engine().define(made.definition, made.before or None)
        return defined.verdict, [*defined.warnings, *defined.lines]
    found = engine().trace(made.definition, made.object, old=made.old or None, field_validation=given.validate)
    return found.verdict, [*found.warnings, *found.lines]


def test_every_step_that_is_refused_or_warned_is_on_the_page_or_has_a_reason_not_to_be() -> None:
    shown = {name for one in MESSAGES for name in one.steps}
    refused = {name for name, (_, one) in STEPS.items() if one.expect == "refused"}
    warned = {name for name, (_, one) in STEPS.items() if re.search(r"(?m)^Warning: ", outputs.text(one.outputs))}
    assert len(refused) > 30 and warned
    assert refused | warned == shown | set(NOT_COVERED)
    assert not shown & set(NOT_COVERED) and all(NOT_COVERED.values())


def test_every_line_that_a_command_complains_with_is_some_messages() -> None:
    lines = 0
    for name, (_, one) in STEPS.items():
        if name.startswith("typed-resources/"):
            continue
        there = [line for line in outputs.text(one.outputs).splitlines() if _COMPLAINT.match(line)]
        words = [word for told in MESSAGES if name in told.steps for word in told.words]
        for line in there:
            if complaint(line):
                lines += 1
                assert any(word in line for word in words), f"{name}: {line}"
    assert lines > 30


@pytest.mark.parametrize("message", MESSAGES, ids=ids(list(MESSAGES)))
def test_every_step_of_a_message_shows_it(message: Message) -> None:
    for name in message.steps:
        assert messages.lines(message, step(name)) if name != "typed-resources/strict" else True


def test_the_typed_class_tells_an_unknown_field_of_the_server_in_its_own_order() -> None:
    assert "spec.wroker: unknown field" in outputs.text(step("typed-resources/strict").outputs)


@pytest.mark.parametrize("message", PLAYED, ids=ids(PLAYED))
def test_the_manifest_of_a_message_gives_the_lines_that_are_recorded(message: Message) -> None:
    assert message.given is not None
    verdict, lines = played(message.given)
    recorded = {plain(line) for line in messages.lines(message, step(message.steps[0]))} - {""}
    found = {plain(line) for line in lines}
    if message.anchor == "message-not-checked":  # recorded as a table, whose rows have the field in a column of its own
        found = {line.removeprefix("<nil>: ") for line in found}
    assert recorded <= found, (recorded, found)
    assert verdict == ("accepted" if message.anchor == "message-deprecated" else "refused")
    if message.place != "definition":  # whose lines are of one mistake
        assert {line for line in found if message.words[0].removeprefix("Warning: ") in line} == recorded


@pytest.mark.parametrize("message", PLAYED, ids=ids(PLAYED))
def test_the_mended_manifest_is_taken_without_a_word(message: Message) -> None:
    assert message.mended is not None
    assert played(message.mended) == ("accepted", [])


def test_the_playground_gives_the_lines_of_every_message_it_is_linked_from(loaded: Page) -> None:
    told = 0
    for message in PLAYED:
        for given in (message.given, message.mended):
            if given is None or given.validate != "Strict":
                continue
            made = Texts(given, ROOT)
            judged(loaded, definition=made.definition, object=made.object, old=made.old)
            shown = {plain(line) for line in printed(loaded)}
            recorded = {plain(line) for line in messages.lines(message, step(message.steps[0]))} - {""}
            if message.anchor == "message-not-checked":
                shown = {line.removeprefix("<nil>: ") for line in shown}
            assert (recorded <= shown) is (given is message.given), (message.anchor, shown)
            told += 1
    assert told > 30


def test_what_the_playground_cannot_tell_is_as_the_page_says() -> None:
    others = {one.anchor: one for one in MESSAGES if one.given is not None and not one.played}
    assert all(one.asked for one in others.values())
    with pytest.raises(BadDocument, match="no version v1alpha1, only v1"):
        played(_given(others.pop("message-no-matches-for-kind")))
    kept = others.pop("message-stored-versions")
    recorded = {plain(line) for line in messages.lines(kept, step(kept.steps[0]))}
    assert played(_given(kept)) == ("refused", sorted(recorded))
    assert kept.mended is not None and played(kept.mended) == ("accepted", [])
    assert engine().define(Texts(_given(kept), ROOT).definition).verdict == "accepted"
    assert played(_given(others.pop("message-terminating")))[0] == "accepted"
    assert not others


def _given(message: Message) -> Given:
    assert message.given is not None
    return message.given


def test_each_message_has_an_anchor_of_its_own_a_place_and_words_that_name_it_alone() -> None:
    assert len({one.anchor for one in MESSAGES}) == len({one.words[0] for one in MESSAGES}) == len(MESSAGES)
    assert {one.place for one in MESSAGES} == set(PLACES)
    assert all(re.fullmatch(r"message(-[a-z]+)+", one.anchor) for one in MESSAGES)
    assert all(one.asked for one in MESSAGES if one.given is None)


def test_a_manifest_is_a_file_of_the_chapter_with_what_the_step_changes() -> None:
    for one in MESSAGES:
        for given in (one.given, one.mended):
            if given is not None and given.object:
                file = manifests.documents(ROOT / "crd" / given.object)[0]
                made = manifests.read(Texts(given, ROOT).object, one.anchor)[0]
                assert made["kind"] == file["kind"] and (made == file) is (not given.change)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_page_has_a_table_that_leads_to_every_message_with_its_lines_and_links(lang: str) -> None:
    page = messages.page(ROOT, lang)
    assert page.startswith("# ")
    for one in MESSAGES:
        assert f"| [`{one.words[0]}`](#{one.anchor}) |" in page and f"\n({one.anchor})=\n" in page
        for line in messages.lines(one, step(one.steps[0])):
            assert f"\n{line}\n" in page
        for given in (one.given, one.mended):
            if given is not None:
                made = Texts(given, ROOT)
                address = playground.link(playground.Texts(made.definition, made.object, made.old))
                assert f'href="playground/index.html{address}"' in unescape(page)
        for name in one.steps:
            assert f'{STEPS[name][0].path.stem}.html#{name.replace("/", "-")}"' in page


def test_both_languages_have_the_same_lines_manifests_and_anchors_and_other_words() -> None:
    english, french = (messages.page(ROOT, lang) for lang in ("en", "fr"))
    fences = r"(?s)`{3,}(?:text|yaml|console)\n.*?`{3,}"
    assert re.findall(fences, english) == re.findall(fences, french)
    assert re.findall(r"(?m)^\(.*\)=$", english) == re.findall(r"(?m)^\(.*\)=$", french)
    prose = [set(re.sub(fences, "", page).splitlines()) for page in (english, french)]
    same = {
        line
        for line in prose[0] & prose[1]
        if not line.startswith(("(", "### ", "<details", "</details", "<ul>", "</ul>", "|---"))
    }
    assert same <= {"", *(f"<summary>crd/{one.given.definition}</summary>" for one in MESSAGES if one.given)}


def test_a_step_that_shows_other_words_than_it_did_is_named() -> None:
    with pytest.raises(NotebookError, match=r"a-new-type/begin: its record does not show .*\n.*message-required"):
        messages.lines(next(one for one in MESSAGES if one.anchor == "message-required"), step("a-new-type/begin"))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('The Colis "x" is invalid: spec: Required value', "spec: Required value"),
        ('The Colis "x" is invalid: ', ""),
        ("* spec: Invalid value: y is invalid: z", "spec: Invalid value: y is invalid: z"),
        ('Warning: unknown field "spec.a"', 'unknown field "spec.a"'),
        ('Error from server (Forbidden): error when creating "STDIN": no', "no"),
        ("spec.worker   –           Invalid value: min", "Invalid value: min"),
        ("error: the server", "the server"),
    ],
)
def test_a_complaint_is_what_the_server_says_of_it(line: str, said: str) -> None:
    assert complaint(line) == said
