"""``labkit site``: the whole of the pages in one language, put in place when it is right and not before.

A reader must never find half a site, and a student never one with an answer in it. So it is put together in a folder
beside its place (Sphinx's pages, the playground with its module, manifests), searched for answers, and renamed. What
Sphinx remembers between builds lies in ``build/site``, outside of what is handed out, and makes a second build short.
"""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from labkit import __version__
from labkit.course.replacing import replacing
from labkit.errors import CourseError
from labkit.languages import LANGUAGES, speaking, translate
from labkit.scan import read_answers, scan
from labkit.show.render_html import style_sheet
from labkit.site import notebooks, playground, predictions, trimming
from labkit.site.sources import Edition, tree
from labkit.site.tryit import Manifests

__all__ = ["Built", "SiteError", "build"]

NAMES = {"en": "English", "fr": "Français"}
EDITION = "edition.json"
"""In the folder of a site: for whom its pages are, in which language."""
STYLES = ("labkit.css", "icons.css")
SCRIPTS = ("labkit.js",)
_STYLED = ("style.css", "folds.css", "sections.css")


class SiteError(CourseError):
    """The pages cannot be made, or would tell an answer: what was there is left as it was."""


@dataclass(frozen=True)
class Built:
    """A site: its folder, its number of files, their bytes, those of the playground apart."""

    root: Path
    files: int
    size: int
    playground: int

    @property
    def text(self) -> str:
        """One line for people."""
        pages, judge = (f"{size / 1e6:.1f} MB" for size in (self.size, self.playground))
        return f"{self.root}: {self.files} files, {pages} and a playground of {judge}"


def build(
    root: Path, target: Path, lang: str, *, instructor: bool = False, say: Callable[[str], None] = lambda _: None
) -> Built:
    """Make the pages in *lang* of the course at *root* in *target*, a folder that is replaced whole.

    *say* is told what is being done. Raises SiteError (Sphinx finds something wrong, an answer is in the pages,
    *target* is not ours, or of another edition), CourseError for what the course's files raise and for a French
    notebook in which the server says something else than in the English one, ToolMissing where the playground's module
    is not built.
    """
    target = target.absolute()
    kind = {"edition": "instructors" if instructor else "students", "language": lang}
    _expect_ours(target, kind)
    work = root / "build" / "site"
    executed = notebooks.executed(root, lang, work, say=say)
    edition = Edition(root, lang, executed, instructor)
    place = work / f"{'instructor' if instructor else 'student'}-{lang}"
    say(f"{lang}: the pages' sources")
    _write_tree(place / "source", tree(edition))
    say(f"{lang}: the pages")
    _sphinx(place, lang, instructor=instructor)
    with replacing(target) as new:
        shutil.copytree(place / "html", new, ignore=shutil.ignore_patterns(".buildinfo*", ".doctrees"))
        trimming.trim(new)
        _add(new, edition, work / "module")
        (new / EDITION).write_text(json.dumps(kind) + "\n", encoding="utf-8")
        if not instructor:
            say(f"{lang}: a search for answers")
            _expect_no_answer(root, new)
    return _built(target)


def settings(lang: str, *, instructor: bool) -> dict[str, object]:
    """What Sphinx is told; all it needs comes from packages, nothing from the network."""
    with speaking(lang):
        title = translate("CustomResourceDefinitions") + (f" · {translate('instructors')}" if instructor else "")
    others = [[other, NAMES[other]] for other in LANGUAGES if other != lang]
    return {
        "project": title,
        "html_title": title,
        "html_short_title": title,
        "author": "labkit",
        "copyright": "labkit, Apache-2.0",
        "version": __version__,
        "language": lang,
        "extensions": ["myst_nb", "sphinx_design", "sphinx_copybutton", "labkit.site.extension"],
        "html_theme": "sphinx_book_theme",
        "html_theme_options": {
            "use_download_button": False,
            "use_fullscreen_button": False,
            "article_header_end": ["labkit-languages.html", "article-header-buttons.html"],
            "navbar_persistent": [],
            "show_toc_level": 2,
            "pygments_light_style": "a11y-high-contrast-light",
            "pygments_dark_style": "a11y-high-contrast-dark",
            "logo": {"text": title},
            "footer_content_items": ["labkit-foot.html"],
        },
        "html_context": {"labkit_languages": others, "default_mode": "auto"},
        "templates_path": [str(_theme() / "templates")],
        "html_static_path": [],
        "html_css_files": list(STYLES) + [name for name, _ in predictions.FILES if name.endswith(".css")],
        "html_js_files": list(SCRIPTS) + [name for name, _ in predictions.FILES if name.endswith(".js")],
        "html_copy_source": False,
        "html_show_sourcelink": False,
        "html_show_sphinx": False,
        "html_show_search_summary": False,
        "html_use_index": False,
        "html_domain_indices": False,
        "html_last_updated_fmt": None,
        "smartquotes": False,
        "nb_execution_mode": "off",
        "nb_ipywidgets_js": {},
        "nb_merge_streams": True,
        "nb_render_text_lexer": "none",
        "myst_enable_extensions": ["colon_fence"],
        "copybutton_selector": "div.cell_input div.highlight pre, div.highlight-yaml pre, div.highlight-console pre",
        "exclude_patterns": ["**/.*"],
    }


def _theme() -> Path:
    return Path(str(files("labkit.site").joinpath("theme")))


def _write_tree(folder: Path, made: dict[str, bytes]) -> None:
    """Bring *folder* to exactly these files; one that is as it was keeps its date, by which Sphinx knows."""
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        if path.relative_to(folder).as_posix() not in made:
            path.unlink()
    for name, content in made.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_bytes() != content:
            path.write_bytes(content)


def _sphinx(place: Path, lang: str, *, instructor: bool) -> None:
    """Source tree to HTML. Raises SiteError for any warning: a link to nothing is one."""
    from sphinx.application import Sphinx
    from sphinx.errors import SphinxError
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    told = io.StringIO()
    shutil.rmtree(place / "html", ignore_errors=True)  # pictures of another day would be handed out with today's
    source, html = place / "source", place / "html"
    failed = ""
    with patch_docutils(), docutils_namespace():
        try:
            app = Sphinx(
                source, None, html, place / "doctrees", "html",
                confoverrides=settings(lang, instructor=instructor), status=None, warning=told,
            )  # fmt: skip
            app.build(force_all=True)  # every page has the titles of all pages beside it
        except (SphinxError, ValueError) as error:
            failed = f"{error}"
    warnings = told.getvalue().strip()
    if failed or warnings:
        shutil.rmtree(place / "doctrees", ignore_errors=True)  # what was warned of would not be said again
        lines = [*([failed] if failed else []), *warnings.splitlines()]
        raise SiteError(
            f"the pages in {lang!r} were not made ({len(lines)} lines of warnings)",
            evidence="\n  ".join(["", *lines[:20]]).replace(f"{source}/", ""),
            next_act=f"mend what they name; the sources are in {source}",
        )


def _add(folder: Path, edition: Edition, module: Path) -> None:
    """What is not Sphinx's: styles and scripts of our own, manifests, and the playground."""
    static = folder / "_static"
    for name in (*STYLES, *SCRIPTS):
        (static / name).write_bytes((_theme() / name).read_bytes())
    own = "\n".join(style_sheet(name) for name in _STYLED)
    (static / "labkit.css").write_text(
        f"{own}\n{(static / 'labkit.css').read_text(encoding='utf-8')}", encoding="utf-8"
    )
    for name, content in predictions.FILES:
        (static / name).write_bytes(content)
    manifests = Manifests(edition.root)
    for one in manifests.by_name.values():
        path = folder / "crd" / one.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(one.text, encoding="utf-8")
    (folder / "crd.zip").write_bytes(_zip(manifests))
    first = manifests.by_name["06-colis-v1-seul.yaml"].text
    playground.build(
        folder / "playground", edition.lang, module,
        example=playground.Texts(first, manifests.example(first)), home="../index.html",
        others={other: f"../../{other}/playground/index.html" for other in LANGUAGES if other != edition.lang},
    )  # fmt: skip


def _zip(manifests: Manifests) -> bytes:
    """All manifests as they lie in ``crd/``: the same bytes from the same files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for one in manifests.by_name.values():
            packed.writestr(zipfile.ZipInfo(f"crd/{one.name}", (2026, 1, 1, 0, 0, 0)), one.text, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _expect_no_answer(root: Path, folder: Path) -> None:
    found = scan(read_answers(root), [folder])
    if not found.clean:
        places, evidence = found.told(folder)
        raise SiteError(
            f"the pages were not put in place, they would tell answers ({places} places)",
            evidence=evidence,
            next_act="take them out of these pages, then make them again",
        )


def _expect_ours(target: Path, kind: dict[str, str]) -> None:
    """A folder that is replaced must be one of these sites, and of the same *kind*: anything else may be somebody's
    work, and pages with answers must never lie where students are sent.
    """
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    try:
        there = json.loads((target / EDITION).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        there = None
    if there == kind:
        return
    ours = isinstance(there, dict) and there.keys() == kind.keys()
    what = f"the {there['edition']}' pages in {there['language']!r}" if ours else "no folder of these pages"
    raise SiteError(f"{target} is there, and is {what}", next_act="name another folder with -o, or remove that one")


def _built(target: Path) -> Built:
    sizes = {path: path.stat().st_size for path in target.rglob("*") if path.is_file()}
    judged = sum(size for path, size in sizes.items() if path.is_relative_to(target / "playground"))
    return Built(target, len(sizes), sum(sizes.values()) - judged, judged)
