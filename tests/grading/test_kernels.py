"""A kernel that is gone is noticed when its process is looked at, not when the cell's time is over."""

from __future__ import annotations

from collections import deque
from types import SimpleNamespace
from typing import Any

import pytest
import zmq

from labkit.grading import kernels
from labkit.grading.kernels import GradedKernel, KernelEnded


class Home:
    """A nursery whose kernel dies after it was looked at *times* times."""

    def __init__(self, times: int) -> None:
        self.times, self.looks = times, 0

    def has_kernel(self) -> bool:
        self.looks += 1
        return self.looks < self.times

    def kill(self) -> None:
        return


def test_a_dead_kernel_is_noticed_at_the_next_look_however_long_its_cell_may_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert kernels.LOOK_S <= 0.5
    monkeypatch.setattr(kernels, "LOOK_S", 0.01)
    home = Home(3)
    with zmq.Context() as context, context.socket(zmq.PAIR) as shell, context.socket(zmq.PAIR) as iopub:
        kernel: Any = object.__new__(GradedKernel)
        channels = SimpleNamespace(
            shell_channel=SimpleNamespace(socket=shell), iopub_channel=SimpleNamespace(socket=iopub)
        )
        kernel.__dict__.update(
            kc=channels, ended=None, _pending=deque(), _received=0, _looked=0.0, _hung_up=None, _home=home
        )
        with pytest.raises(KernelEnded, match="the kernel died in this cell") as lost:
            kernel.await_reply("1", timeout=3600)
    assert lost.value.status == "died"
    assert home.looks == 3
