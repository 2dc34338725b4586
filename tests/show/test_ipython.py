"""Values show themselves in a notebook, and know nothing of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from labkit.observe.cost import Cost
from labkit.show import ipython, plots, views

from . import samples


@pytest.fixture
def shell(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    one = InteractiveShell.instance()
    ipython.register(one)
    ipython.register(one)
    yield one
    one.history_manager.end_session()
    InteractiveShell.clear_instance()


@pytest.mark.parametrize(
    "value", [value for value in samples.ALL if not isinstance(value, Cost)], ids=lambda value: type(value).__name__
)
def test_a_value_comes_with_html_and_its_text_twin(shell: Any, value: object) -> None:
    data, _ = shell.display_formatter.format(value)
    assert data == {"text/plain": views.text(value), "text/html": views.html(value)}
    assert not any(name.startswith("_repr") for name in dir(type(value)))


def test_a_cost_shows_itself_as_its_tables_and_its_plots(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[dict[str, Any]] = []
    monkeypatch.setattr(shell.display_pub, "publish", lambda data, **_: shown.append(data))
    assert shell.display_formatter.format(samples.COST) == ({}, {})
    tables, figure = shown
    assert tables == {"text/plain": views.text(samples.COST), "text/html": views.html(samples.COST)}
    assert figure["image/png"].startswith(b"\x89PNG") or figure["image/png"].startswith("iVBOR")


def test_a_figure_becomes_a_picture_without_pyplot(shell: Any) -> None:
    data, _ = shell.display_formatter.format(plots.cost(samples.COST))
    assert data["image/png"].startswith(b"\x89PNG")
    assert data["text/plain"].startswith("<Figure size")


def test_other_values_are_shown_as_before(shell: Any) -> None:
    data, _ = shell.display_formatter.format({"a": 1})
    assert data == {"text/plain": "{'a': 1}"}
