"""The page of the server's messages: who has a message in front of them finds what it means and what mends it.

A course explains its messages where they come up, one after another; a reader meets one of them on a Tuesday, in a
terminal, and searches for its words. So there is one page with all of them: the server's lines as the notebooks record
them, found by the step that shows them; the meaning; what mends it; and the manifest that gives it, which can be tried
in the playground, as can the mended one. Anchors are those of ``message_texts`` and never change.

The lines and manifests have no language, so both editions take them from the committed English notebooks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

import yaml

from labkit.course import manifests, outputs
from labkit.course.notebook import CourseNotebook, Step, load_all
from labkit.errors import NotebookError
from labkit.languages import speaking, translate
from labkit.observe.verdict import merge_patch
from labkit.site import tryit
from labkit.site.fences import fence
from labkit.site.message_texts import MESSAGES, NOT_COVERED, PLACES, Given, Message

__all__ = ["Texts", "complaint", "lines", "page", "steps"]

_HEAD = re.compile(r"(?:The \S+ \"[^\"]*\" is invalid|The request is invalid: patch): (?=.)")
_SAID_BEFORE = re.compile(r"Warning: |\* |Error from server \(\w+\): (?:error when \w+ \"[^\"]*\": )?|error: ")
_CELL = re.compile(r" {2,}")


def page(root: Path, lang: str) -> str:
    """The page in Markdown (MyST), in *lang*, for the course at *root*. Raises NotebookError where a step does not show
    the words of its message any more, and what reading notebooks and manifests raises.
    """
    found = steps(root)
    with speaking(lang):
        parts = [
            f"# {translate('The server’s messages')}",
            translate(
                "Every refusal and every warning of the chapter, as the server or kubectl words it, in the order in "
                "which a write meets them. Search for words of your message; names and values will be others."
            ),
            _contents(),
        ]
        for place, title in PLACES.items():
            parts += [f"## {translate(title)}"]
            for one in MESSAGES:
                if one.place == place:
                    parts += _message(one, found, root)
        parts += [f"## {translate('Refusals that are not the server’s')}", _others(found)]
    return "\n\n".join(parts) + "\n"


def steps(root: Path) -> dict[str, tuple[CourseNotebook, Step]]:
    """Every step of the committed notebooks, by its id, with the notebook it is in."""
    return {step.id: (told, step) for told in load_all(root / "notebooks") for step in told.steps}


def lines(message: Message, step: Step) -> list[str]:
    """The lines of a step's record that are this message, with the line above that they belong to."""
    found: list[str] = []
    head = ""
    for line in outputs.text(step.outputs).splitlines():
        if not line.startswith("* "):
            head = line
        if any(words in line for words in message.words):
            if line.startswith("* ") and head not in found:
                found.append(head)
            found.append(line)
    if not any(message.words[0] in line for line in found):
        raise NotebookError(
            f"{step.id}: its record does not show {message.words[0]!r}",
            evidence=outputs.text(step.outputs)[-200:],
            next_act=f"give {message.anchor} other words or steps in labkit/site/message_texts.py",
        )
    return found


def complaint(line: str) -> str:
    """What the server complains of, without what kubectl or a table puts before it; "" for a line that is only that."""
    said = _HEAD.split(_CELL.split(line.strip())[-1], maxsplit=1)[-1]
    if said.endswith(" is invalid:"):
        return ""
    before = _SAID_BEFORE.match(said)
    return said[before.end() :] if before else said


# -- manifests ------------------------------------------------------------------------------------------------------


class Texts:
    """The manifests of a ``Given`` as texts: "" where there is none. *own* tells that the object is a file as it is."""

    def __init__(self, given: Given, root: Path) -> None:
        folder = root / "crd"
        self.definition = (folder / given.definition).read_text(encoding="utf-8")
        self.before = _before(folder / given.before, given.stored) if given.before else ""
        self.object = self.old = ""
        self.own = not given.change
        if given.object:
            manifest = manifests.documents(folder / given.object)[0]
            changed = yaml_of(merge_patch(manifest, given.change))
            self.object = (folder / given.object).read_text(encoding="utf-8") if self.own else changed
            self.old = yaml_of(merge_patch(manifest, given.old)) if given.old is not None else ""


def _before(path: Path, stored: tuple[str, ...]) -> str:
    return yaml_of(manifests.documents(path)[0] | {"status": {"storedVersions": list(stored)}})


def yaml_of(value: Mapping[str, Any]) -> str:
    """A manifest as text, its keys in their order."""
    return str(yaml.safe_dump(dict(value), sort_keys=False, allow_unicode=True))


# -- the page's parts -----------------------------------------------------------------------------------------------


def _contents() -> str:
    rows = [
        f"| [`{one.words[0]}`](#{one.anchor}) | {translate(PLACES[place])} |"
        for place in PLACES
        for one in MESSAGES
        if one.place == place
    ]
    return "\n".join([f"| {translate('message')} | {translate('where it arises')} |", "|---|---|", *rows])


def _others(found: Mapping[str, tuple[CourseNotebook, Step]]) -> str:
    """Steps that are refused, and by whom."""
    rows = [f"<li>{_step_link(*found[name])}: {escape(translate(why))}</li>" for name, why in NOT_COVERED.items()]
    return "<ul>\n" + "\n".join(rows) + "\n</ul>"


def _message(one: Message, found: Mapping[str, tuple[CourseNotebook, Step]], root: Path) -> Iterator[str]:
    step = found[one.steps[0]][1]
    yield f"({one.anchor})=\n### `{one.words[0]}`"
    yield fence("text", "\n".join(lines(one, step)))
    yield f"**{translate('What it means.')}** {translate(one.means)}"
    yield f"**{translate('What mends it.')}** {translate(one.mends)}"
    if one.given is None:
        yield fence("console", _command(step))
    else:
        yield from _given(one, one.given, Texts(one.given, root), root)
    if one.asked:
        yield translate(one.asked)
    links = ", ".join(_step_link(*found[name]) for name in one.steps)
    yield f'<p class="labkit-note">{escape(translate("In the chapter:"))} {links}</p>'


def _given(one: Message, given: Given, made: Texts, root: Path) -> Iterator[str]:
    name = given.object or given.definition
    if given.object:
        in_force = translate(
            "The manifest that gives it, with {definition} in force:", definition=f"`crd/{given.definition}`"
        )
        yield in_force
        if made.old:
            yield _folded(translate("The object that is there, as it lies in etcd"), made.old)
        yield fence("yaml", made.object)
    else:
        yield translate("The definition that gives it:")
        yield _folded(f"crd/{given.definition}", made.definition)
    tries = [(given, translate("try it"))]
    if one.mended is not None:
        tries.append((one.mended, translate("try the mended one")))
    links = " ".join(_try(which, root, word, one.words[0]) for which, word in tries)
    yield f'<p class="labkit-manifests"><span><code>{escape(name)}</code> {links}</span></p>'


def _try(given: Given, root: Path, word: str, message: str) -> str:
    label = translate("{name}: {meaning}", name=word, meaning=message)  # alike links must differ when read alone
    made = Texts(given, root)
    return tryit.anchor(tryit.link(made.definition, made.object, old=made.old), word, label)


def _step_link(notebook: CourseNotebook, step: Step) -> str:
    address = f"{notebook.path.stem}.html#{step.id.replace('/', '-')}"
    return f'<a href="{escape(address)}"><code>{escape(step.id)}</code></a>'


def _command(step: Step) -> str:
    """The command of a cell, as it is typed in a terminal."""
    commands = [line for line in step.source.splitlines() if "kubectl" in line]
    return "\n".join(f"$ {line.lstrip('%!')}" for line in commands)


def _folded(summary: str, text: str) -> str:
    return f"<details>\n<summary>{escape(summary)}</summary>\n\n{fence('yaml', text)}\n\n</details>"
