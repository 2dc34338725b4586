"""Any cluster of a kubeconfig: a guest's view of it.

Labkit did not start it and does not end it. The file is read, never written; the context is fixed when the cluster is
opened, so that somebody's ``kubectl config use-context`` in another window cannot move the course to another cluster.
What may be changed on it is the business of ``claim``.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import yaml

from labkit.cluster import places
from labkit.cluster.api import Api
from labkit.cluster.base import WHOLE, ClusterInfo, KeyValue, Page, Progress, silent
from labkit.errors import ClusterChoiceError, ClusterGone, ClusterStartError
from labkit.languages import translate

__all__ = ["ExistingCluster", "contexts"]

_PROBE_LIMIT_S = 10.0


class ExistingCluster:
    """The cluster of *context* in the kubeconfig *path*; without a context, the one current when it is opened."""

    def __init__(self, path: Path, context: str | None = None) -> None:
        self._path = path
        self._context = context

    def __repr__(self) -> str:
        return f"ExistingCluster({str(self._path)!r}, {self._context!r})"

    @property
    def kubeconfig(self) -> Path:
        return self._path

    @property
    def context(self) -> str | None:
        return self._context

    @property
    def cache_dir(self) -> Path:
        digest = hashlib.sha256(f"{self._path}#{self._context}".encode()).hexdigest()
        return places.kubectl_cache(f"kubeconfig-{digest[:16]}")

    @property
    def owned(self) -> bool:
        return False

    @property
    def name(self) -> str:
        """Its spelling for ``--cluster``."""
        return f"kubeconfig:{self._path}" + (f"#{self._context}" if self._context else "")

    def start(self, progress: Progress = silent) -> None:
        """Look whether it answers and lets us in; nothing is started.

        Raises ClusterChoiceError (no such file or context), ClusterGone (no answer), ClusterStartError (not let in).
        """
        self._context = _chosen(self._path, self._context)
        progress(translate("asking {name}", name=self.name))
        with Api(self, timeout_s=_PROBE_LIMIT_S) as api:
            answer = api.raw("GET", "/api/v1/namespaces?limit=1")
        if not answer.ok:
            raise ClusterStartError(
                translate("the cluster answers, but does not let this kubeconfig in"),
                evidence=f"{self.name}: HTTP {answer.code} {answer.status.get('message', '')}".strip(),
                next_act=translate("choose a context whose user may list namespaces and create definitions"),
            )

    def stop(self) -> None:
        """Nothing: it is not labkit's to stop."""

    def reset(self, progress: Progress = silent) -> None:
        from labkit.cluster import cleaning

        cleaning.reset(self, progress)

    def info(self) -> ClusterInfo:
        from labkit.cluster.capabilities import describe_with_nodes

        return describe_with_nodes(self, name=self.name, backend="kubeconfig")

    def gone(self) -> ClusterGone | None:
        try:
            with Api(self, timeout_s=_PROBE_LIMIT_S, diagnose=False) as api:
                api.raw("GET", "/version")
        except ClusterGone as unanswered:
            return ClusterGone(
                translate("the cluster of this kubeconfig does not answer"),
                evidence=f"{self.name}: {unanswered.evidence}",
                next_act=f"kubectl --kubeconfig {self._path} --context {self._context} version",
            )
        return None

    def etcd_range(
        self, key: str, *, prefix: bool = False, keys_only: bool = False, revision: int = 0, page: Page = WHOLE
    ) -> tuple[KeyValue, ...]:
        from labkit.cluster.etcd import range_by_pod

        return range_by_pod(self, key, prefix=prefix, keys_only=keys_only, revision=revision, page=page)


def contexts(path: Path) -> tuple[tuple[str, ...], str | None]:
    """The names of a kubeconfig's contexts, and its current one. Raises ClusterChoiceError when it is none."""
    try:
        config: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
        return tuple(entry["name"] for entry in config.get("contexts") or ()), config.get("current-context") or None
    except OSError as cause:
        evidence: object = cause
    except (yaml.YAMLError, AttributeError, KeyError, TypeError, UnicodeDecodeError) as cause:
        evidence = f"{path} is not a kubeconfig ({type(cause).__name__})"
    raise ClusterChoiceError(
        translate("the kubeconfig cannot be read"),
        evidence=str(evidence),
        next_act="--cluster kubeconfig:PATH[#CONTEXT]",
    )


def _chosen(path: Path, context: str | None) -> str:
    names, current = contexts(path)
    wanted = context or current
    if wanted in names:
        return str(wanted)
    raise ClusterChoiceError(
        translate("the kubeconfig has no context {wanted}", wanted=wanted)
        if wanted
        else translate("the kubeconfig has no current context"),
        evidence=translate("{path} has {names}", path=path, names=", ".join(names) or translate("none")),
        next_act=translate(
            "name one: --cluster kubeconfig:{path}#{name}", path=path, name=names[0] if names else "CONTEXT"
        ),
    )
