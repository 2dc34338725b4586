"""APIObject: a resource with a kind, metadata and the seven path verbs.

What a CustomResourceDefinition says about the kind beside its schema (group, names, scope, columns …) is said once, as
keywords of the class statement, and checked there: a plural in particular is never guessed, since a wrong one looks
like a denied permission.
"""

from __future__ import annotations

from typing import Any, NoReturn, Self

from labkit.resources.containers import Object
from labkit.resources.errors import DeclarationError, Refusal, ResourceError, class_name
from labkit.resources.field import Field
from labkit.resources.meta import ObjectMeta, OwnerReference
from labkit.resources.objects import Resource, ResourceMeta
from labkit.resources.paths import SpecPaths
from labkit.resources.state import state_of
from labkit.resources.values import described, text_of

__all__ = ["APIObject"]


class _Envelope(Field[Any, Any]):
    """apiVersion or kind of an object: only the class's own value fits."""

    kind = "Str"

    def __init__(self, owner: type[Any], key: str, value: str) -> None:
        super().__init__()
        self.owner, self.key, self.attribute = owner, key, key
        self.enforced = self.listed = self.nullable = False

        def coerce(given: Any) -> Any:
            if given != value:
                raise Refusal.of(f"expected '{value}', got {described(given)}", text_of(given))
            return value

        self.coerce = self.read = coerce


class _Fixed:
    """A class fact as an attribute of class and object; it cannot be set."""

    def __init__(self, fact: str) -> None:
        self.fact = fact

    def __get__(self, obj: Any, owner: type[Any]) -> str:
        return str(facts_of(owner)[self.fact])

    def __set__(self, obj: Any, value: Any) -> NoReturn:
        raise AttributeError(f"{self.fact} of {class_name(type(obj))} is fixed by its class")


class _Conditions:
    """``obj.conditions``: the conditions in its status. Gives way to a field of that name."""

    labkit_yields = True

    def __get__(self, obj: Any, owner: type[Any]) -> Any:
        return self if obj is None else _conditions(obj)


class APIObjectMeta(ResourceMeta):
    """Checks the facts of a kind before its fields are declared."""

    __fact_names__ = (
        "group",
        "version",
        "kind",
        "plural",
        "singular",
        "list_kind",
        "scope",
        "short_names",
        "categories",
        "subresources",
        "columns",
        "selectable",
        "deprecated",
        "served",
        "fixed",
    )

    def __made__(cls) -> None:  # noqa: N805  (a metaclass)
        state = state_of(cls)
        for fact in ("group", "version", "kind", "plural", "singular", "list_kind", "scope"):
            value = state.facts.get(fact, "-")
            if not isinstance(value, str) or (not value and fact != "group"):
                _refuse(cls, fact, f"is {value!r}; it must be text" + ("" if fact == "group" else ", not empty"))
        for fact in ("short_names", "categories", "columns", "selectable"):
            if not isinstance(state.facts.get(fact, []), (list, tuple)):
                _refuse(cls, fact, "must be a list")
        if not isinstance(state.facts.get("deprecated", False), (bool, str)):
            _refuse(cls, "deprecated", "must be True, False or the warning to send")
        if "subresources" in state.facts and not state.lenient:
            _check_subresources(cls, state.facts["subresources"])
        facts = facts_of(cls)
        if facts["version"]:
            state.prelude = {"apiVersion": facts["api_version"], "kind": facts["kind"]}
            state.envelope = {key: _Envelope(cls, key, value) for key, value in state.prelude.items()}


def facts_of(cls: type[Any]) -> dict[str, Any]:
    """Everything the class says about its kind, with what follows from it; *plural* is empty if nobody said it."""
    state = state_of(cls)
    facts = {name: state.fact(name) for name in APIObjectMeta.__fact_names__}
    facts["kind"] = facts["kind"] or cls.__name__
    facts["group"] = facts["group"] or ""
    facts["api_version"] = f"{facts['group']}/{facts['version']}" if facts["group"] else facts["version"]
    facts["singular"] = facts["singular"] or facts["kind"].lower()
    facts["list_kind"] = facts["list_kind"] or f"{facts['kind']}List"
    facts["scope"] = facts["scope"] or "Namespaced"
    facts["served"] = facts["served"] is not False
    return facts


def _refuse(cls: type[Any], fact: str, message: str) -> NoReturn:
    name = class_name(cls)
    raise DeclarationError(f"'{fact}' of class {name} {message}", class_name=name, option=fact)


def _check_subresources(cls: type[Any], given: Any) -> None:
    if not isinstance(given, dict):
        _refuse(cls, "subresources", "must be a dict of 'status' and 'scale'")
    for name in sorted(given):
        if name not in ("status", "scale"):
            _refuse(cls, "subresources", f"has '{name}'; there are only 'status' and 'scale'")
    if given.get("status", {}) != {}:
        _refuse(cls, "subresources", "has a 'status' that is not {}")
    scale = given.get("scale")
    if scale is None:
        return
    paths = ("specReplicasPath", "statusReplicasPath", "labelSelectorPath")
    if not isinstance(scale, dict) or any(key not in scale for key in paths[:2]):
        _refuse(cls, "subresources", f"has a 'scale' without {paths[0]} and {paths[1]}")
    for key in sorted(scale):
        if key not in paths or not isinstance(scale[key], str) or not scale[key]:
            _refuse(
                cls, "subresources", f"has '{key}': {scale[key]!r} in 'scale'; it takes {', '.join(paths)}, as text"
            )


class APIObject(SpecPaths, Resource, metaclass=APIObjectMeta, fixed=("metadata",)):
    """Base of the kinds: ``class Colis(APIObject, group="cours.example.com", version="v1", plural="colis")``.

    Class keywords: *group* (empty for the core group), *version*, *kind* (the class's name), *plural* (never guessed),
    *singular*, *list_kind*, *scope* ("Namespaced" or "Cluster"), *short_names*, *categories*, *subresources*,
    *columns* (from ``column``), *selectable* (JSON paths), *deprecated* (True or the warning), *served*; and those of
    Resource. ``apiVersion`` and ``kind`` are written first, unless the document had them elsewhere, and cannot be set.
    """

    __slots__ = ()

    api_version = _Fixed("api_version")
    apiVersion = _Fixed("api_version")  # noqa: N815
    kind = _Fixed("kind")
    conditions = _Conditions()
    metadata = Object(ObjectMeta)

    def get_condition(self, type_: str) -> Any:
        """The condition of that type, as it is held (an object or a dict), or None."""
        return next((one for one in _conditions(self) if _part(one, "type") == type_), None)

    def is_condition_true(self, type_: str) -> bool:
        """Whether that condition is there with the status "True"."""
        return bool(_part(self.get_condition(type_), "status") == "True")

    def condition_message(self, type_: str) -> str | None:
        """The message of that condition, or None."""
        message = _part(self.get_condition(type_), "message")
        return message if isinstance(message, str) else None

    def is_ready(self) -> bool:
        """Whether the condition Ready, or Available, is "True"."""
        return self.is_condition_true("Ready") or self.is_condition_true("Available")

    def set_owner(self, owner: APIObject, *, controller: bool = True) -> Self:
        """Make this object belong to *owner*; the same owner twice changes nothing.

        Raises ResourceError if *owner* has no uid, which only the server gives, or if another controller is there.
        """
        meta = owner.metadata
        uid = meta.uid if meta is not None else None
        if not uid or meta is None:
            raise _problem(self, f"the owner, a {class_name(type(owner))}, has no uid: read it from the server first")
        if self.metadata is None:
            self.metadata = ObjectMeta()
        assert self.metadata is not None  # noqa: S101  (set above)
        present = self.metadata.ownerReferences or []
        if any(one.uid == uid for one in present):
            return self
        if controller and (other := next((one for one in present if one.controller), None)):
            raise _problem(self, f"has another controller, {other.kind} {other.name}")
        reference = OwnerReference(
            apiVersion=owner.apiVersion, kind=owner.kind, name=meta.name, uid=uid, controller=controller
        )
        self.metadata.ownerReferences = [*present, reference]
        return self


def _problem(obj: APIObject, message: str) -> ResourceError:
    return ResourceError(class_name(type(obj)), Refusal.of(message).under("metadata"))


def _part(condition: Any, key: str) -> Any:
    if isinstance(condition, Resource):
        return condition._values.get(key)
    return condition.get(key) if isinstance(condition, dict) else None


def _conditions(obj: APIObject) -> list[Any]:
    field = state_of(type(obj)).fields.get("conditions")
    held = obj._values.get("conditions") if field else _part(obj._values.get("status"), "conditions")
    return held if isinstance(held, list) else []
