"""Count the GPU kernels, device-to-host syncs and bytes moved of a call. Needs no GPU.

The host is the CPU with its memory, the device is the GPU. Host tensors are the results of
``Tensor.cpu``, of functions such as ``torch.zeros`` without ``device=``, and of operations on host
tensors alone, which are not counted. All others count as device tensors, even on the CPU.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypedDict

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves

from gleanvid.compressors.base import Compressor
from gleanvid.evaluation.bench.bench_compress import run_stages
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.types import VideoTokens

_READS = {Tensor.cpu, Tensor.tolist, Tensor.numpy}
_SYNCHRONISING = {"aten::_local_scalar_dense", "aten::nonzero", "aten::masked_select"}
_SYNCHRONISING |= {"aten::_unique2", "aten::unique_dim", "aten::unique_consecutive"}
_SYNCHRONISING |= {"aten::repeat_interleave.Tensor"}
_FACTORIES = {torch.tensor, torch.as_tensor, torch.arange, torch.zeros, torch.ones, torch.empty}
_FACTORIES |= {torch.full, torch.eye, torch.linspace, torch.from_numpy, torch.rand, torch.randn}
_FROM_LISTS = {torch.tensor, torch.as_tensor}


@dataclass
class Work:
    """Counts of one call's work on the device.

    ``kernels``: ATen operations on the device that are not views; ``by_name`` has their numbers by
    name. ``read_backs``: device-to-host syncs. ``copies``: transfers from the host to the device.
    ``bytes_moved``: size of all kernels' inputs and outputs.
    """

    kernels: int = 0
    read_backs: int = 0
    copies: int = 0
    bytes_moved: int = 0
    by_name: Counter[str] = field(default_factory=Counter)


def count(call: Callable[[], Any]) -> Work:
    work, host = Work(), _Host()
    with _Transfers(work, host), _Operations(work, host):
        call()
    return work


class _Host:
    """Tracks which tensors are on the host, by their storage."""

    def __init__(self) -> None:
        self._storages: set[int] = set()

    def add(self, tensor: Tensor) -> None:
        storage = _storage(tensor)
        if storage is None:
            return
        self._storages.add(storage._cdata)
        weakref.finalize(storage, self._storages.discard, storage._cdata)

    def __contains__(self, tensor: Tensor) -> bool:
        storage = _storage(tensor)
        return storage is not None and storage._cdata in self._storages


class _Operations(TorchDispatchMode):
    """Counts the ATen operations on the device.

    If all tensors that an operation reads are on the host, so are its results.
    """

    def __init__(self, work: Work, host: _Host) -> None:
        super().__init__()
        self._work, self._host = work, host

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        inputs, outputs = _strided((args, kwargs)), _strided(result)
        if inputs and all(tensor in self._host for tensor in inputs):
            for tensor in outputs:
                self._host.add(tensor)
        elif not _is_view(func):
            self._count(func.name(), inputs, outputs)
        return result

    def _count(self, name: str, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
        work = self._work
        is_index = name.startswith("aten::index")
        selects = is_index and any(tensor.dtype == torch.bool for tensor in inputs[1:])
        work.read_backs += name in _SYNCHRONISING or selects
        work.copies += is_index and any(tensor in self._host for tensor in inputs[1:])
        if name == "aten::_local_scalar_dense":
            return
        work.kernels += 1
        work.by_name[name] += 1
        work.bytes_moved += sum(t.numel() * t.element_size() for t in (*inputs, *outputs))


class _Transfers(TorchFunctionMode):
    """Counts copies between host and device, and keeps track of the tensors on the host."""

    def __init__(self, work: Work, host: _Host) -> None:
        super().__init__()
        self._work, self._host = work, host

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in _FACTORIES:
            return self._create(func, args, kwargs)
        if self._sends(func, args, kwargs):
            self._work.copies += 1
            return _copy(func, args, kwargs)
        if not self._reads(func, args, kwargs):
            return func(*args, **kwargs)
        self._work.read_backs += 1
        if func in (Tensor.tolist, Tensor.numpy):
            return func(*args, **kwargs)
        copy = _copy(func, args, kwargs)
        self._host.add(copy)
        return copy

    def _create(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Create a tensor, which is on the host unless ``device=`` is given.

        Creating a tensor on the device from a list counts as one copy.
        """
        if kwargs.get("device") is not None:
            self._work.copies += func in _FROM_LISTS
            return func(*args, **kwargs)
        # The result is on the host if the tensor given is on the host, else on the device.
        if args and isinstance(args[0], Tensor):
            return func(*args, **kwargs)
        with _disable_current_modes():
            made = func(*args, **kwargs)
        if made.device.type == "cpu":
            self._host.add(made)
        return made

    def _sends(self, func: Any, args: Any, kwargs: Any) -> bool:
        """Whether a call copies values from the host to the device."""
        if func is Tensor.new_tensor:
            return args[0] not in self._host
        if func is not Tensor.to or args[0] not in self._host:
            return False
        return any(
            isinstance(word, torch.device) or (isinstance(word, Tensor) and word not in self._host)
            for word in (*args[1:], *kwargs.values())
        )

    def _reads(self, func: Any, args: Any, kwargs: Any) -> bool:
        """Whether a call copies values from the device to the host."""
        if not args or not isinstance(args[0], Tensor) or args[0] in self._host:
            return False
        words = [word for word in (*args[1:], *kwargs.values()) if isinstance(word, str)]
        return func in _READS or (func is Tensor.to and "cpu" in words)


def _copy(func: Any, args: Any, kwargs: Any) -> Any:
    """Call ``func`` and clone its result: for a CPU tensor, ``Tensor.cpu`` returns its input."""
    with _disable_current_modes():
        return func(*args, **kwargs).clone()


def _storage(tensor: Tensor) -> torch.UntypedStorage | None:
    """Return the storage of a tensor; None for sparse tensors and tensors inside vmap."""
    if tensor.layout != torch.strided:
        return None
    with suppress(NotImplementedError):
        return tensor.untyped_storage()
    return None


def _strided(tree: Any) -> list[Tensor]:
    return [t for t in tree_leaves(tree) if isinstance(t, Tensor) and t.layout == torch.strided]


def _is_view(func: Any) -> bool:
    aliases = [value.alias_info for value in func._schema.returns]
    return any(alias is not None and not alias.is_write for alias in aliases)


class Report(TypedDict):
    """Counts of GPU kernels, syncs, copies and bytes moved in every method's ``compress``.

    ``out_of_reach``: the methods that cannot reach the retention ratio, each with the reason.
    """

    grid: list[int]
    width: int
    retention_ratio: list[float]
    torch: str
    rows: list[dict[str, Any]]
    out_of_reach: dict[str, str]


def count_all(methods: Sequence[Compressor], tokens: VideoTokens) -> Report:
    size = tokens.features.numel() * tokens.features.element_size()
    rows, out_of_reach = [], {}
    for method in methods:
        call = partial(run_stages, method, tokens)
        try:
            facts = vars(count(call))
        except ValueError as error:
            out_of_reach[method.name] = str(error)
            continue
        facts |= {"bytes_over_features": round(facts["bytes_moved"] / size, 2)}
        rows.append({"compressor": method.name} | facts)
    ratios = sorted({method.retention_ratio for method in methods} - {1.0})
    grid, width = list(tokens.grid), tokens.features.shape[1]
    return Report(
        grid=grid,
        width=width,
        retention_ratio=ratios,
        torch=torch.__version__,
        rows=rows,
        out_of_reach=out_of_reach,
    )


def table(report: Report) -> str:
    grid = " x ".join(map(str, report["grid"]))
    ratios = ", ".join(f"{ratio:.0%}" for ratio in report["retention_ratio"])
    columns = {
        "kernels": ("kernels", "{:,}"),
        "read_backs": ("device-to-host syncs", "{}"),
        "bytes_over_features": ("bytes moved / size of features", "{:.1f}"),
    }
    heads = ["compressor", *(title for title, _ in columns.values())]
    rows = [
        [f"`{row['compressor']}`", *(form.format(row[name]) for name, (_, form) in columns.items())]
        for row in report["rows"]
    ]
    first = f"{grid} tokens of width {report['width']}, {ratios} kept, torch {report['torch']}"
    refused = [f"`{name}`: {reason}\n" for name, reason in report["out_of_reach"].items()]
    return "\n".join([first, "", markdown_table(heads, rows), *refused]).rstrip()
