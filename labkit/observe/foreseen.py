"""The verdict on an object where no server is asked: a trace's, put into the same value.

A page that scores a prediction is built where no cluster runs, yet it must score as a notebook does. The trace is made
by the server's own libraries and gives the server's own ``Status``; here it becomes the verdict that
``labkit.observe.verdict.ask`` would give of a new object. Only what a trace has not is missing from it: webhooks and
policies, rights, other objects.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from labkit.cluster import ApiResponse
from labkit.cluster.refusal import refusal_of
from labkit.errors import TraceError
from labkit.languages import translate
from labkit.observe.fields import changes_between
from labkit.observe.verdict import Checking, Verdict, outcomes_of, pruned_in_metadata, refused, schema_in
from labkit.trace import Source, engine

__all__ = ["foresee"]


def foresee(manifest: Mapping[str, Any], definition: Mapping[str, Any], *, checking: Checking = "strict") -> Verdict:
    """What the server would say of *manifest* as a new object of the type that *definition* defines.

    Raises BadDocument, DefinitionRefused, EngineDied, ToolMissing, and TraceError where a trace cannot know.
    """
    sent = dict(manifest)
    texts = Source.of("the definition", definition), Source.of("the object", sent)
    found = engine().trace(*texts, field_validation=checking.capitalize())
    common: dict[str, Any] = {
        "api_version": sent["apiVersion"],
        "kind": sent["kind"],
        "namespace": str(sent["metadata"].get("namespace", "")),
        "name": str(sent["metadata"]["name"]),
        "checking": checking,
        "sent_as": "new",
        "warnings": found.warnings,
    }
    if found.verdict == "unknown":
        raise TraceError(translate("a trace cannot tell what becomes of this object"), evidence=found.reason)
    if found.verdict == "refused":
        answer = ApiResponse(int(found.status["code"]), json.dumps(found.status))
        return refused(refusal_of(answer), schema_in(definition, str(sent["apiVersion"])), sent, common)
    warnings = found.warnings
    if checking == "ignore":  # the server says nothing of unknown fields then; asked again, it names them
        warnings = engine().trace(*texts, field_validation="Warn").warnings
    changes = (*changes_between(sent, found.read, warnings), *pruned_in_metadata(sent, warnings))
    return Verdict(**common, outcomes=outcomes_of(changes), changes=changes, code=201)
