"""The course pages in a real browser, opened from a folder: every page, and a reader's way through them."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from labkit.languages import LANGUAGES
from tests import browser

from .barriers import ALL, SEEN_ELSEWHERE, barriers
from .conftest import CRD, ROOT, Visits, judged, make_pages, printed
from .first_exercise import recorded

WIDTHS = (1400, 800, 390)
PATH = "03-path.html"
EXERCISES = "10-exercises.html"
OTHER = {"en": "fr", "fr": "en"}
TABS = 200
"""How often a reader presses Tab at most to come to a form from the beginning of a page's text."""

PREPARE = """() => {
    for (const one of document.querySelectorAll("details")) one.open = true;
    const seen = new Set();
    for (const one of document.querySelectorAll(".highlight span")) {
        if (seen.has(one.className)) one.replaceWith(...one.childNodes);
        else seen.add(one.className);
    }
    for (const one of document.querySelectorAll(".highlight pre")) one.normalize();
}"""
"""All that is folded is judged, too; of coloured code each colour once, or it takes minutes."""

OF_THE_THEME = {
    ("label-content-name-mismatch", "search-button__button"): "its words are Search and the keys that open it, Ctrl+K",
}
"""What is serious by these rules, not ours, and why it is left: rule, class of the element."""


def names(course: Path, lang: str) -> list[str]:
    """Every page of the site."""
    found = sorted(path.relative_to(course).as_posix() for path in (course / lang).rglob("*.html"))
    assert len(found) > 15
    return found


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_page_loads_without_complaint_fits_the_window_and_asks_for_nothing_outside(
    course: Path, read: Visits, lang: str
) -> None:
    page = read.open("")
    for name in names(course, lang):
        page.goto(f"{course.as_uri()}/{name}")
        assert page.locator("html").get_attribute("lang") == lang
        assert page.locator("h1:visible").count() == 1, name
        page.eval_on_selector_all("details.labkit-answer", "all => all.forEach((one) => { one.open = true; })")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 1000})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, width)
            if name.endswith((PATH, EXERCISES, "index.html", "messages.html")):
                browser.shoot(page, f"{name.replace('/', '-')}-{width}")
        assert page.evaluate("[...document.images].every((one) => one.complete && one.naturalWidth > 0)"), name
    read.check()
    assert len(read.requests) > 300


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_page_has_a_serious_barrier(course: Path, read: Visits, lang: str, scheme: str) -> None:
    """In light colours and a wide window by all rules; in dark ones and a narrow window by those that can differ."""
    excused, found = set(), []
    page = read.open("", width=1400 if scheme == "light" else 390)
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
    for name in names(course, lang):
        page.goto(f"{course.as_uri()}/{name}")
        if "playground" not in name:
            expect(page.locator("html")).to_have_attribute("data-theme", scheme)
            page.evaluate(PREPARE)
        for one in barriers(page, ALL if scheme == "light" else SEEN_ELSEWHERE):
            reasons = {key for key in OF_THE_THEME if key[0] == one.rule and key[1] in one.html}
            excused |= reasons
            found += [] if reasons else [f"{name}: {one}"]
    assert found == [], "\n".join(found)
    assert excused == (set(OF_THE_THEME) if scheme == "light" else set()), "what is mended is no exception any more"


def test_a_barrier_is_found(read: Visits) -> None:
    page = read.open("en/students.html")
    page.eval_on_selector("article p", "one => { one.style.color = '#999'; one.style.background = '#fff'; }")
    page.eval_on_selector("article h1", "one => one.insertAdjacentHTML('afterend', '<button></button>')")
    assert {"color-contrast", "button-name"} <= {one.rule for one in barriers(page, ALL)}


# -- a reader's way --------------------------------------------------------------------------------------------------


def tab_to(page: Page, place: str) -> None:
    """Press Tab until the focus is at *place*."""
    for _ in range(TABS):
        page.keyboard.press("Tab")
        if page.evaluate("(place) => document.activeElement.matches(place)", place):
            return
    pytest.fail(f"the keyboard does not come to {place}")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_reader_goes_from_the_cover_to_a_prediction_and_answers_it_by_keyboard_alone(read: Visits, lang: str) -> None:
    page = read.open(f"{lang}/index.html")
    tab_to(page, "a.labkit-button")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/01-[\w-]+\.html$"))
    for name in ("02-", "03-"):
        page.wait_for_load_state()
        tab_to(page, ".prev-next-area a.right-next")
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile(rf"/{lang}/{name}[\w-]+\.html$"))
    page.wait_for_load_state()
    tab_to(page, "a[href='#main-content']")
    page.keyboard.press("Enter")
    box = page.locator("#path-predict")
    told = box.locator("[role=status]")
    tab_to(page, "#path-predict input[type=radio]")
    expect(told).to_be_empty()
    page.keyboard.press("ArrowUp")
    assert box.locator("input:checked").get_attribute("value") == "refused"
    page.keyboard.press("Tab")
    page.keyboard.type("spec.api.replicas")
    page.keyboard.press("Tab")
    page.keyboard.type("type")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(told).to_contain_text("must be of type integer")
    assert told.locator("tbody").first.locator(".labkit-good").count() == 3
    answer = page.locator("#path-predict ~ details.labkit-answer").first
    expect(answer.locator("pre, table").first).to_be_hidden()
    tab_to(page, "details.labkit-answer > summary")
    page.keyboard.press("Enter")
    opened = page.locator("details.labkit-answer[open]")
    expect(opened).to_have_count(1)
    expect(opened).to_contain_text("must be of type integer")
    browser.shoot(page, f"{lang}-predicted")


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("width", [1400, 390])
def test_the_way_to_the_other_language_keeps_the_page_and_the_place(read: Visits, lang: str, width: int) -> None:
    page = read.open(f"{lang}/{PATH}", width=width)
    switch = page.locator("a.labkit-language")
    other = OTHER[lang]
    expect(switch).to_have_attribute("hreflang", other)
    places = page.eval_on_selector_all("article section section[id]", "all => all.map((one) => one.id)")
    assert len(places) > 3
    for place in (places[1], places[-2]):
        page.goto(f"{read.site.as_uri()}/{lang}/{PATH}#{place}")
        expect(page.locator(f'[id="{place}"] > :is(h2, h3)')).to_be_in_viewport()
        switch.click()
        expect(page).to_have_url(re.compile(rf"/{other}/{re.escape(PATH)}#[\w-]+$"))
        expect(page.locator("html")).to_have_attribute("lang", other)
        expect(page.locator(f'[id="{place}"] > :is(h2, h3)')).to_be_in_viewport()
        expect(page.locator(f'[id="{page.url.partition("#")[2]}"]')).to_be_in_viewport()
    page.goto(f"{read.site.as_uri()}/{lang}/{PATH}")
    switch.click()
    expect(page).to_have_url(f"{read.site.as_uri()}/{other}/{PATH}")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_first_exercises_objects_are_tried_on_the_final_definition_with_kubectls_lines(
    read: Visits, lang: str
) -> None:
    page = read.open(f"{lang}/{EXERCISES}")
    page.locator(".labkit-exercise").first.locator("a.labkit-try").click()
    expect(page).to_have_url(re.compile(rf"/{lang}/playground/index\.html#try="))
    final = (CRD / "06-colis-v1-seul.yaml").read_text("utf-8")
    expect(page.locator("#definition")).to_have_value(final)
    commands = list(recorded())
    assert [one.name for one in commands] == ["a", "a", "b", "c", "d"]
    for one in commands:
        page.locator("#object").fill(one.object)
        judged(page, validate=one.validate)
        assert tuple(line.rstrip() for line in printed(page)) == one.said
    browser.shoot(page, f"{lang}-tried")
    page.locator("nav a").first.click()
    expect(page).to_have_url(f"{read.site.as_uri()}/{lang}/index.html")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_reader_finds_a_page_by_a_word_or_a_name_of_the_api_without_a_server(read: Visits, lang: str) -> None:
    page = read.open("")
    for word in {"en": ("finalizer", "storedVersions"), "fr": ("finaliseur", "finalizer", "storedVersions")}[lang]:
        page.goto(f"{read.site.as_uri()}/{lang}/search.html?q={word}")
        found = page.locator("#search-results li a")
        expect(found.first).to_be_visible()
        found.first.click()
        expect(page.locator("article")).to_contain_text(word)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_without_javascript_all_can_be_read_and_folded_answers_opened(read: Visits, lang: str) -> None:
    page = read.open(f"{lang}/{PATH}", script=False)
    article = page.locator("article.bd-article")
    assert len(article.inner_text()) > 5000
    for one in article.locator("p:not(details p, form p), li:not(details li, form li)").all():
        assert one.is_visible() or not one.inner_text().strip()
    outputs = article.locator(".cell_output")
    assert outputs.count() > 10 and article.locator(".cell_output:visible").count() > 5
    answer = article.locator("details.labkit-answer").first
    inside = answer.locator(":scope > :not(summary)").first
    expect(inside).to_be_hidden()
    answer.locator("summary").first.click()
    expect(inside).to_be_visible()
    form = page.locator("#path-predict")
    expect(form.locator("form")).to_be_hidden()
    expect(form.locator("li").first).to_be_visible()
    expect(page.locator("a.labkit-language")).to_have_attribute("href", f"../{OTHER[lang]}/{PATH}")
    browser.shoot(page, f"{lang}-without-script")


# -- what is written in the course's files stays text ----------------------------------------------------------------

EVIL = "<script>document.title='hacked'</script><img src=x onerror=\"document.title='hacked'\">"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """English pages of a course whose first definition and recorded output hold tags."""
    root = tmp_path_factory.mktemp("hostile")
    for name in ("crd", "notebooks", "exercises", "locale"):
        shutil.copytree(ROOT / name, root / name)
    shutil.copytree(ROOT / "docs/pages", root / "docs/pages")
    (root / "build/site").mkdir(parents=True)
    (root / "build/site/module").symlink_to(ROOT / "build/site/module")
    (root / "labkit").symlink_to(ROOT / "labkit")
    definition = root / "crd/01-colis-minimal.yaml"
    text = definition.read_text("utf-8")
    spec = "type: object\n          properties:"
    assert text.count(spec) == 1
    definition.write_text(text.replace(spec, f"description: {json.dumps(EVIL)}\n          {spec}"), "utf-8")
    first = root / "notebooks/01-a-new-type.ipynb"
    notebook = json.loads(first.read_text("utf-8"))
    outputs = next(cell["outputs"] for cell in notebook["cells"] if cell.get("outputs"))
    outputs.append({"output_type": "stream", "name": "stdout", "text": [f"{EVIL}\n"]})
    first.write_text(json.dumps(notebook), "utf-8")
    make_pages(root, root / "dist/en", "en")
    return root / "dist"


def test_tags_in_a_definition_and_in_what_the_server_says_are_shown_as_text(hostile: Path, chromium: Browser) -> None:
    visits = Visits(hostile, chromium)
    page = visits.open("en/01-a-new-type.html")
    assert_text(page, page.locator(".cell_output"))
    page.goto(f"{hostile.as_uri()}/en/manifests.html")
    assert_text(page, page.locator(".highlight-yaml"))
    page.locator('section[id="01-colis-minimal-yaml"] a.labkit-try, #colis-minimal-yaml a.labkit-try').first.click()
    expect(page).to_have_url(re.compile(r"#try="))
    expect(page.locator("#definition")).not_to_have_value("")
    assert EVIL in page.locator("#definition").input_value().replace('\\"', '"')
    judged(page, object=f"kind: Colis\nmetadata: {{name: x}}\nspec: {{{json.dumps(EVIL)}: 1}}\n")
    assert "hacked" not in page.title()
    assert page.locator("img").count() == 0
    visits.close()
    visits.check()


def assert_text(page: Page, places: Locator) -> None:
    """What would be run is shown somewhere in *places*, and was not run."""
    texts = [text.replace('\\"', '"') for text in places.all_inner_texts()]
    assert any(EVIL in text for text in texts)
    assert "hacked" not in page.title()
    assert page.locator("article img[src=x]").count() == 0
