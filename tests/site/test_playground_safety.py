"""The page takes whatever it is given: hostile links and objects are text, and what has no end is ended."""

from __future__ import annotations

import base64
import json
import re
import threading
import zlib
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from labkit.site import playground
from labkit.site.playground import Texts

from .conftest import CRD, EXAMPLE, ROOT, Visits, judged, printed, verdict

EVIL = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\'"&amp;\u202e'
LOOSE = (CRD / "01-colis-minimal.yaml").read_text("utf-8")
HEAD = '{"apiVersion": "cours.example.com/v1", "kind": "Colis", "metadata": {"name": "a"}, "spec": '
LOOSE_HEAD = HEAD.replace("/v1", "/v1alpha1")
TEXTS = {"definition": EXAMPLE.definition, "object": EXAMPLE.object, "old": ""}


def values(page: Page) -> dict[str, str]:
    return {name: page.input_value(f"#{name}") for name in TEXTS}


def unharmed(page: Page) -> None:
    """Nothing of what was given has become a part of the page."""
    assert page.evaluate("window.hacked") is None
    assert (
        page.locator("#status *, #results :is(img, script, a, style), #costs :is(img, script, a, style)").count() == 0
    )


# -- links -----------------------------------------------------------------------------------------------------------


def test_a_link_made_in_python_opens_with_its_texts_and_the_pages_own_link_reads_the_same(visit: Visits) -> None:
    texts = Texts(f"a: é\n{EVIL}", "b: \U0001f600\n", "c: 1\n")
    page = visit(end=playground.link(texts))
    expect(page.locator("#status")).to_have_text("The texts come from the link.")
    assert values(page) == vars(texts)
    unharmed(page)
    page.click("#copy")
    expect(page.locator("#link")).to_be_visible()
    address = page.input_value("#link")
    assert address == page.url
    packed = address.partition("#try=")[2]
    assert re.fullmatch(r"[\w-]+", packed)
    inflated = zlib.decompress(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)), -zlib.MAX_WBITS)
    assert json.loads(inflated) == vars(texts)


def packed(content: bytes) -> str:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return "#try=" + base64.urlsafe_b64encode(packer.compress(content) + packer.flush()).decode().rstrip("=")


DAMAGED = {
    "no base64": "#try=<script>window.hacked=1</script>",
    "nothing": "#try=",
    "cut off": playground.link(EXAMPLE)[:200],
    "no deflate": "#try=AAAA",
    "no JSON": packed(b"window.hacked=1"),
    "no object": packed(b"null"),
    "a list": packed(b'["a"]'),
    "numbers for texts": packed(b'{"definition": 5}'),
    "no UTF-8": packed(b'{"definition": "\xff"}'),
    "what unpacks to 100 MB": packed(b'{"definition": "' + b"a" * 100_000_000 + b'"}'),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_damaged_link_is_said_to_be_one_and_changes_nothing(visit: Visits, kind: str) -> None:
    page = visit(end=DAMAGED[kind])
    expect(page.locator("#status")).to_have_text("The link is damaged or cut off: its texts cannot be read.")
    assert values(page) == TEXTS
    unharmed(page)


def test_what_a_link_has_beside_the_texts_is_left_out(visit: Visits) -> None:
    page = visit(end=packed(b'{"object": "o", "__proto__": {"definition": "x"}, "validate": "Ignore", "limitMs": 0}'))
    expect(page.locator("#status")).to_have_text("The texts come from the link.")
    assert values(page) == {"definition": "", "object": "o", "old": ""}
    assert page.input_value("#validate") == "Strict"


def test_a_link_of_five_megabytes_harms_nothing(visit: Visits) -> None:
    page = visit(end=packed(json.dumps({"object": "y" * 5_000_000}).encode()))
    expect(page.locator("#status")).to_have_text("The texts come from the link.")
    assert len(page.input_value("#object")) == 5_000_000
    page.evaluate("text => { location.hash = text; }", "#try=" + "A" * 5_000_000)
    expect(page.locator("#status")).to_have_text("The link is damaged or cut off: its texts cannot be read.")
    assert judged(page, **TEXTS).endswith(": refused")


def test_an_address_in_a_link_is_a_text(visit: Visits) -> None:
    texts = Texts("javascript:window.hacked=1", "data:text/html,<script>window.hacked=1</script>", "vbscript:x")
    page = visit(end=playground.link(texts))
    expect(page.locator("#status")).to_have_text("The texts come from the link.")
    assert values(page) == vars(texts)
    judged(page)
    page.click("#copy")
    page.evaluate("text => { location.hash = text; }", texts.definition)
    assert page.locator(":is([href], [src]):is([href^='javascript:'], [href^='data:'], [src^='data:'])").count() == 0
    unharmed(page)


def test_another_fragment_is_none_of_ours(visit: Visits) -> None:
    page = visit(end="#results")
    expect(page.locator(".numbers").first).to_have_text(re.compile("^1\n"))
    assert values(page) == TEXTS
    assert page.locator("#status").inner_text() == ""


def test_the_language_is_changed_without_losing_the_texts(visit: Visits) -> None:
    page = visit(end=playground.link(Texts("d", "o", "")))
    expect(page.locator("#definition")).to_have_value("d")
    page.fill("#object", "o: 2")
    page.click("text=Français")
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    expect(page.locator("#object")).to_have_value("o: 2")


def test_texts_too_long_for_an_address_stay_where_they_are_and_it_is_said(visit: Visits) -> None:
    page = visit()
    noise = "[...crypto.getRandomValues(new Uint8Array(60000))].map((one) => one.toString(36)).join('')"
    page.evaluate(f"editors.fill(object, Array.from({{length: 20}}, () => {noise}).join(''))")
    long = page.input_value("#object")
    for button in ("#copy", "text=Français"):
        page.evaluate("document.getElementById('status').textContent = ''")
        page.click(button)
        expect(page.locator("#status")).to_have_text("These texts are too long for a link.")
        assert page.input_value("#object") == long
    page.fill("#object", "short: 1")
    page.click("#copy")
    expect(page.locator("#link")).to_be_visible()


# -- texts -----------------------------------------------------------------------------------------------------------


def test_a_script_in_a_definition_or_an_object_is_shown_as_text(loaded: Page) -> None:
    definition = json.dumps(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "as.t.example.com"},
            "spec": {
                "group": "t.example.com",
                "scope": "Cluster",
                "names": {"kind": "A", "plural": "as"},
                "versions": [
                    {
                        "name": "v1",
                        "served": True,
                        "storage": True,
                        "schema": {
                            "openAPIV3Schema": {
                                "type": "object",
                                "description": EVIL,
                                "properties": {
                                    "s": {"type": "string", "maxLength": 9, "enum": [EVIL], "default": EVIL},
                                    "t": {"type": "string", "maxLength": 9},
                                },
                                "x-kubernetes-validations": [{"rule": "!has(self.t)", "message": EVIL}],
                            }
                        },
                    }
                ],
            },
        }
    )
    thing = {"apiVersion": "t.example.com/v1", "kind": "A", "metadata": {"name": "a"}, EVIL: EVIL, "s": EVIL, "t": "x"}
    told = judged(loaded, definition=definition, object=json.dumps(thing), validate="Ignore")
    assert told  # refused or not: the definition has a default that is too long
    for one in ({"s": EVIL}, {"t": "x", "metadata": {"name": EVIL}}):
        sound = definition.replace('"maxLength": 9, "enum"', '"maxLength": 999, "enum"')
        told = judged(loaded, definition=sound, object=json.dumps(thing | one), validate="Ignore")
        assert ": refused" in told
        text = loaded.locator("#results").inner_text()
        assert "<script>window.hacked=1</script>" in text and "onerror=" in text
        assert "\u202e" not in text + told and "\\u202e" in text
        unharmed(loaded)


def nested(levels: int) -> str:
    return LOOSE_HEAD + '{"a":' * (levels - 1) + "1" + "}" * levels


def definition_nested(levels: int) -> str:
    schema = '{"type":"object","properties":{"a":' * levels + '{"type":"string"}' + "}}" * levels
    return (
        '{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"as.t.example.com"},'
        '"spec":{"group":"t.example.com","scope":"Cluster","names":{"kind":"A","plural":"as"},"versions":[{"name":"v1",'
        f'"served":true,"storage":true,"schema":{{"openAPIV3Schema":{schema}}}}}]}}}}'
    )


TOO_DEEP = "The browser could not go on with these texts"
ABSURD = {
    "brackets without end": (EXAMPLE.definition, HEAD + "[" * 100_000, "refused"),
    "YAML brackets without end": (LOOSE, f"kind: Colis\nspec: {'[' * 20_000}", TOO_DEEP),
    "no YAML": (EXAMPLE.definition, "a: [", "refused"),
    "no YAML in the definition": ("a: [", EXAMPLE.object, "The definition cannot be read"),
    "no definition": ("", EXAMPLE.object, "The definition cannot be read"),
    "an object in place of it": (EXAMPLE.object, EXAMPLE.object, "The definition cannot be read"),
    "another kind": (EXAMPLE.definition, "apiVersion: v1\nkind: Pod\n", "is not one of this definition"),
    "as deep as can be shown": (LOOSE, nested(500), "accepted"),
    "deeper than can be shown": (LOOSE, nested(5000), "The object cannot be read"),
    "deeper than the browser": (LOOSE, nested(9990), TOO_DEEP),
    "a definition deeper than the browser": (definition_nested(3000), "", TOO_DEEP),
    "a text of 3 MB": (EXAMPLE.definition, f'{HEAD}{{"version":"{"y" * 3_000_000}"}}}}', "refused"),
    "more than the server takes": (EXAMPLE.definition, f'{HEAD}{{"version":"{"y" * 4_000_000}"}}}}', "refused"),
    "20,000 unknown fields": (
        EXAMPLE.definition,
        HEAD + json.dumps({f"f{number}": number for number in range(20_000)}) + "}",
        "refused",
    ),
}


@pytest.mark.parametrize("kind", ABSURD)
def test_an_absurd_text_gets_its_answer_and_the_next_one_too(loaded: Page, kind: str) -> None:
    definition, thing, told = ABSURD[kind]
    assert told in judged(loaded, definition=definition, object=thing, validate="Strict")
    assert loaded.evaluate("document.querySelectorAll('*').length") < 5000
    assert loaded.evaluate("document.body.innerText.length") < 400_000
    if told == TOO_DEEP:
        assert loaded.locator("#results").inner_text() == ""
    assert judged(loaded, **TEXTS).endswith(": refused")
    assert len(printed(loaded)) == 7


ENDLESS = """apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: as.t.example.com}
spec:
  group: t.example.com
  scope: Cluster
  names: {kind: A, plural: as}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {l: {type: array, maxItems: 200, items: {type: integer}}}
        x-kubernetes-validations:
""" + "".join(f"        - rule: self.l.all(x, self.l.all(y, x + y + {number} >= 0))\n" for number in range(100))
LONG = {
    "definition": ENDLESS,
    "object": f"apiVersion: t.example.com/v1\nkind: A\nmetadata: {{name: a}}\nl: {[1] * 200}\n",
    "validate": "Strict",
}


def test_rules_that_do_not_come_to_an_end_are_given_up_after_a_limit(visit: Visits) -> None:
    page = visit()
    judged(page)
    page.evaluate("settings.limitMs = 3000")
    assert judged(page, **LONG) == "No verdict within 3 seconds, so it was given up. Other texts can be judged at once."
    assert page.locator("#results").inner_text() == page.locator("#costs").inner_text() == ""
    page.evaluate("settings.limitMs = 60000")
    assert judged(page, **TEXTS).endswith(": refused")


@pytest.mark.parametrize("by", ["the button", "a key"])
def test_a_long_question_can_be_cancelled_and_another_asked(visit: Visits, by: str) -> None:
    page = visit()
    judged(page)
    for name in ("definition", "object"):
        page.fill(f"#{name}", LONG[name])
    page.focus("#judge")
    page.keyboard.press("Enter")
    expect(page.locator("#cancel")).to_be_focused()
    expect(page.locator("#status")).to_have_text("Judging…")
    if by == "a key":
        page.keyboard.press("Escape")
    else:
        page.click("#cancel")
    assert verdict(page) == "Cancelled."
    expect(page.locator("#judge")).to_be_focused()
    assert judged(page, **TEXTS).endswith(": refused")


def test_loading_can_be_cancelled_and_goes_on_where_it_was(visit: Visits) -> None:
    page = visit()
    page.evaluate("watch = new MutationObserver(() => progress.value && cancel.click())")
    page.evaluate("watch.observe(progress, {attributes: true})")
    page.click("#judge")
    assert verdict(page) == "Cancelled."
    got = len([url for url in visit.requests if "/module/" in url])
    assert 0 < got < 9
    page.evaluate("watch.disconnect()")
    assert judged(page).endswith(": refused")
    modules = [url for url in visit.requests if "/module/" in url]
    assert len(modules) == len(set(modules))


def test_a_missing_part_of_the_module_is_named(site: Path, visit: Visits) -> None:
    page = visit()
    page.evaluate("settings.module[3] = '../../module/gone.js'")
    assert judged(page).startswith("A part of the API server's code is missing or damaged: ../../module/gone.js")
    visit.complaints = [one for one in visit.complaints if "ERR_FILE_NOT_FOUND" not in one]
    page.evaluate("settings.module[3] = '../../module/03.js'")
    assert judged(page).endswith(": refused")
    assert (site / "module" / "03.js").is_file()


# -- what the page may do --------------------------------------------------------------------------------------------


def test_the_page_may_fetch_nothing_run_nothing_inline_and_its_workers_neither(visit: Visits) -> None:
    page = visit()
    assert page.locator("meta[http-equiv]").get_attribute("content") == playground.POLICY
    assert page.evaluate("fetch(location.href).then(() => 'read', () => 'refused')") == "refused"
    tries = "try { told(Function('return 1')()); } catch (error) { told(error.name); }"
    assert page.evaluate(f"new Promise((told) => setTimeout(() => {{ {tries} }}))") == "EvalError"
    page.evaluate(
        "{ const one = document.createElement('script'); one.text = 'window.hacked = 1'; document.body.append(one) }"
    )
    page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.hacked=1\"><iframe src=x>')"
    )
    worker = """address => new Promise((told) => {
        const source = `const name = (does) => { try { does(); return 'done'; } catch (error) { return error.name; } };
            fetch('${address}').then(() => 'read', () => 'refused').then((got) => postMessage(
                [got, name(() => eval('1')), name(() => importScripts('${address}'))]))`;
        const one = new Worker(URL.createObjectURL(new Blob([source])));
        one.onmessage = (event) => told(event.data);
    })"""
    address = page.evaluate("new URL('view.js', location).href")
    assert page.evaluate(worker, address) == ["refused", "EvalError", "NetworkError"]
    assert page.evaluate("window.hacked") is None
    assert any("Content Security Policy" in one for one in visit.complaints)
    visit.complaints.clear()  # all of them were asked for here


def test_no_script_of_the_page_makes_elements_of_texts() -> None:
    sources = sorted((ROOT / "labkit/site/playground").rglob("*.js"))
    assert len(sources) == len(playground.SCRIPTS) + len(playground.WORKER)
    for source in sources:
        text = source.read_text("utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|\bFunction\(", text), (
            source
        )
        assert text.startswith('// @ts-check\n"use strict";\n'), source


@pytest.fixture
def served(site: Path) -> Iterator[str]:
    """The site on a web server of this machine."""
    handler = type("Quiet", (SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(site))) as server:
        running = threading.Thread(target=server.serve_forever)
        running.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        running.join()


def test_the_same_files_do_on_a_web_server(visit: Visits, served: str) -> None:
    page = visit(at=served)
    assert judged(page).endswith(": refused")
    assert len(printed(page)) == 7
    asked = [one for one in visit.requests if not one.startswith(("blob:", f"{served}/favicon"))]
    assert asked and all(one.startswith(f"{served}/") for one in asked)
    visit.requests.clear()
    visit.complaints = [one for one in visit.complaints if "404" not in one]  # the browser's own wish for an icon
