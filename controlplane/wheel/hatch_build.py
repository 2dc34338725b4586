"""Names the wheel for the platform of the program in it, which need not be the one it is built on."""

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PlatformTag(BuildHookInterface):  # type: ignore[type-arg]
    """The tag comes from who built the program: ``LABKIT_WHEEL_TAG``."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{os.environ['LABKIT_WHEEL_TAG']}"
