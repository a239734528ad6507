"""How long a GPU works on one call, and how long it waits for what comes next."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

from gleanvid.models.cost.measure import now

_REPEATS = 5


def device_times(call: Callable[[], Any], device: torch.device) -> dict[str, float]:
    """``device_s``: what the kernels of one call take together; ``launch_gap_s``: the other time.

    The wall clock is the median of five calls without the profiler, after one to warm up.
    """
    call()
    walls = []
    for _ in range(_REPEATS):
        started = now(device)
        call()
        walls.append(now(device) - started)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as trace:
        call()
        now(device)
    busy = kernel_seconds(trace.events())
    return {"device_s": busy, "launch_gap_s": max(0.0, statistics.median(walls) - busy)}


def kernel_seconds(events: Iterable[Any]) -> float:
    """Seconds of all profiled events that ran on a GPU."""
    on_device = (event for event in events if event.device_type == DeviceType.CUDA)
    return sum(event.self_device_time_total for event in on_device) / 1e6
