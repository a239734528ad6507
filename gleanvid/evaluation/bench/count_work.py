"""Counts what one ``compress`` makes a device do: kernels, factorizations, read-backs, bytes.
Needs no GPU.

An operation on values that were read back, or made on the host, runs there and is counted apart.
On a machine without a GPU, what ``Tensor.cpu`` returns and what is made without naming a device
stand for such values.
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
from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.evaluation.bench.bench_compress import run_stages
from gleanvid.evaluation.bench.device_time import device_times
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.ops.fused import fused_steps
from gleanvid.types import VideoTokens

_READS = {Tensor.cpu, Tensor.tolist, Tensor.numpy}
_SYNCHRONISING = {"aten::_local_scalar_dense", "aten::nonzero", "aten::masked_select"}
_SYNCHRONISING |= {"aten::_unique2", "aten::unique_dim", "aten::unique_consecutive"}
_SYNCHRONISING |= {"aten::repeat_interleave.Tensor"}
_MAKERS = {torch.tensor, torch.as_tensor, torch.arange, torch.zeros, torch.ones, torch.empty}
_MAKERS |= {torch.full, torch.eye, torch.linspace, torch.from_numpy, torch.rand, torch.randn}
_FROM_LISTS = {torch.tensor, torch.as_tensor}
_DENSE = {"aten::_linalg_eigh", "aten::_linalg_svd", "aten::linalg_eig"}
_QR = "aten::linalg_qr"


@dataclass
class Work:
    """Counts of one call. ``kernels``: ATen operations on the device that are no views.

    ``qr``: Householder factorizations; ``dense``: eigenproblems and singular values on the device;
    ``bytes_moved``: of the inputs and outputs of all kernels; ``copies``: from the host.
    """

    kernels: int = 0
    qr: int = 0
    dense: int = 0
    read_backs: int = 0
    copies: int = 0
    bytes_moved: int = 0
    host_operations: int = 0
    by_name: Counter[str] = field(default_factory=Counter)


class _Host:
    """The storages of values that were read back."""

    def __init__(self) -> None:
        self._places: set[int] = set()

    def add(self, tensor: Tensor) -> None:
        storage = _storage(tensor)
        if storage is None:
            return
        self._places.add(storage._cdata)
        weakref.finalize(storage, self._places.discard, storage._cdata)

    def __contains__(self, tensor: Tensor) -> bool:
        storage = _storage(tensor)
        return storage is not None and storage._cdata in self._places


class _Operations(TorchDispatchMode):
    """Counts every operation into ``work``."""

    def __init__(self, work: Work, host: _Host) -> None:
        super().__init__()
        self._work, self._host = work, host

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        inputs, outputs = _tensors((args, kwargs)), _tensors(result)
        if inputs and all(tensor in self._host for tensor in inputs):
            self._work.host_operations += 1
            for tensor in outputs:
                self._host.add(tensor)
        elif not _is_view(func):
            self._count(func.name(), inputs, outputs)
        return result

    def _count(self, name: str, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
        work = self._work
        selects = name.startswith("aten::index") and any(t.dtype == torch.bool for t in inputs[1:])
        work.read_backs += name in _SYNCHRONISING or selects
        work.copies += name.startswith("aten::index") and any(t in self._host for t in inputs[1:])
        if name == "aten::_local_scalar_dense":
            return
        work.kernels += 1
        work.by_name[name] += 1
        work.qr += name == _QR
        work.dense += name in _DENSE
        work.bytes_moved += sum(t.numel() * t.element_size() for t in (*inputs, *outputs))


class _Reads(TorchFunctionMode):
    """Counts the calls that copy values to the host or from it, and marks what lies there."""

    def __init__(self, work: Work, host: _Host) -> None:
        super().__init__()
        self._work, self._host = work, host

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in _MAKERS:
            return self._made(func, args, kwargs or {})
        if self._sends(func, args, kwargs or {}):
            self._work.copies += 1
            with _disable_current_modes():
                return func(*args, **(kwargs or {})).clone()
        if not self._reads(func, args, kwargs or {}):
            return func(*args, **(kwargs or {}))
        self._work.read_backs += 1
        if func in (Tensor.tolist, Tensor.numpy):
            return func(*args, **(kwargs or {}))
        with _disable_current_modes():  # without a GPU it would be the tensor itself
            copy = func(*args, **(kwargs or {})).clone()
        self._host.add(copy)
        return copy

    def _made(self, func: Any, args: Any, kwargs: Any) -> Any:
        """On the host where no device is named; a list that goes to one is copied."""
        if kwargs.get("device") is not None:
            self._work.copies += func in _FROM_LISTS
            return func(*args, **kwargs)
        given = args[0] if args else None
        if isinstance(given, Tensor):  # as_tensor hands it on
            return func(*args, **kwargs)
        with _disable_current_modes():
            made = func(*args, **kwargs)
        if made.device.type == "cpu":
            self._host.add(made)
        return made

    def _sends(self, func: Any, args: Any, kwargs: Any) -> bool:
        """Whether a call copies values of the host to the device."""
        if func is Tensor.new_tensor:
            return args[0] not in self._host
        if func is not Tensor.to or args[0] not in self._host:
            return False
        words = (*args[1:], *kwargs.values())
        return any(
            isinstance(word, torch.device) or (isinstance(word, Tensor) and word not in self._host)
            for word in words
        )

    def _reads(self, func: Any, args: Any, kwargs: Any) -> bool:
        if not args or not isinstance(args[0], Tensor) or args[0] in self._host:
            return False
        words = [word for word in (*args[1:], *kwargs.values()) if isinstance(word, str)]
        to_host = func is Tensor.to and "cpu" in words  # not the device of another tensor
        return func in _READS or to_host


def count(call: Callable[[], Any]) -> Work:
    """The work of one call."""
    work, host = Work(), _Host()
    with _Reads(work, host), _Operations(work, host):
        call()
    return work


class Report(TypedDict):
    """A row holds ``compressor``, the fields of :class:`Work` and ``bytes_over_features``; from a
    GPU also ``device_s`` and ``launch_gap_s``; where fused steps count too, ``kernels_fused``."""

    grid: list[int]
    width: int
    retention_ratio: list[float]
    torch: str
    rows: list[dict[str, Any]]
    out_of_reach: dict[str, str]


def count_all(methods: Sequence[Compressor], tokens: VideoTokens, fused: bool = False) -> Report:
    """A row for every method, on the tokens that ``bench compress`` measures with.

    On a GPU a row also holds ``device_s`` and ``launch_gap_s`` (:func:`device_times`). With
    ``fused`` the kernels of GleanVID are counted with its fused steps as well.
    """
    size = tokens.features.numel() * tokens.features.element_size()
    rows, out_of_reach = [], {}
    for method in methods:
        call = partial(run_stages, method, tokens)
        try:
            work = count(call)
        except ValueError as error:
            out_of_reach[method.name] = str(error)
            continue
        facts = vars(work) | {"bytes_over_features": round(work.bytes_moved / size, 2)}
        if tokens.features.is_cuda:
            facts |= device_times(call, tokens.features.device)
        if fused and isinstance(method, GleanVID):  # no other has such steps
            with fused_steps():
                facts["kernels_fused"] = count(call).kernels
        rows.append({"compressor": method.name} | facts | {"by_name": dict(work.by_name)})
    shares = sorted({method.retention_ratio for method in methods} - {1.0})
    return {
        "grid": list(tokens.grid),
        "width": tokens.features.shape[1],
        "retention_ratio": shares,
        "torch": torch.__version__,
        "rows": rows,
        "out_of_reach": out_of_reach,
    }


def table(report: Report) -> str:
    """The report as Markdown."""
    grid = " x ".join(map(str, report["grid"]))
    shares = ", ".join(f"{share:.0%}" for share in report["retention_ratio"])
    heads = ["compressor", "kernels", "QR", "eigenproblems, SVD", "read-backs"]
    heads += ["moved, in features"]
    times = {"device_s": "device, ms", "launch_gap_s": "launch gap, ms"}  # from a GPU alone
    known = {name for row in report["rows"] for name in row}
    times = {name: head for name, head in times.items() if name in known}
    rows = [
        [
            f"`{row['compressor']}`",
            f"{row['kernels']:,}",
            str(row["qr"]),
            str(row["dense"]),
            str(row["read_backs"]),
            f"{row['bytes_over_features']:.1f}",
            *(f"{1e3 * row[name]:.2f}" for name in times),
        ]
        for row in report["rows"]
    ]
    first = f"{grid} tokens of width {report['width']}, {shares} kept, torch {report['torch']}"
    lines = [first, "", markdown_table([*heads, *times.values()], rows)]
    lines += [
        f"`{row['compressor']}` with fused steps: {row['kernels_fused']:,} kernels\n"
        for row in report["rows"]
        if "kernels_fused" in row
    ]
    lines += [f"`{name}`: {reason}\n" for name, reason in report["out_of_reach"].items()]
    return "\n".join(lines).rstrip()


def _storage(tensor: Tensor) -> torch.UntypedStorage | None:
    """None for sparse tensors and those inside vmap, which have none of their own."""
    if tensor.layout != torch.strided:
        return None
    with suppress(NotImplementedError):
        return tensor.untyped_storage()
    return None


def _tensors(tree: Any) -> list[Tensor]:
    """Those with a storage of their own, which sparse ones do not have."""
    return [t for t in tree_leaves(tree) if isinstance(t, Tensor) and t.layout == torch.strided]


def _is_view(func: Any) -> bool:
    aliases = [value.alias_info for value in func._schema.returns]
    return any(alias is not None and not alias.is_write for alias in aliases)
