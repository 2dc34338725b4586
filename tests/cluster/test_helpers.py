"""The tests' own means, where a test that leans on them could not tell that they are wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from labkit.cluster import Api
from labkit.cluster.embedded import EmbeddedCluster

from .helpers import put_over

PATH = "/api/v1/namespaces/put-over"


@pytest.fixture
def api(cluster: EmbeddedCluster) -> Iterator[Api]:
    with Api(cluster) as api:
        api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "put-over"}})
        yield api


def labelled(live: Any, **labels: str) -> Any:
    return live | {"metadata": live["metadata"] | {"labels": labels}}


def test_an_update_that_somebody_comes_before_is_made_of_what_is_there_then(api: Api) -> None:
    seen = []

    def change(live: Any) -> Any:
        seen.append(live["metadata"]["resourceVersion"])
        if len(seen) < 3:
            assert api.raw("PUT", PATH, labelled(live, other=f"{len(seen)}")).ok
        return labelled(live, mine="yes")

    live, answer = put_over(api, PATH, change)
    assert answer.ok and len(set(seen)) == 3 and live["metadata"]["resourceVersion"] == seen[-1]
    assert answer.json["metadata"]["labels"]["mine"] == "yes"


def test_a_conflict_that_stays_is_the_answer(api: Api) -> None:
    def outdated(live: Any) -> Any:
        return live | {"metadata": live["metadata"] | {"resourceVersion": "1"}}

    assert put_over(api, PATH, outdated, tries=3)[1].code == 409
