"""Count the bytes of living tensors by their storage, independent of the allocator."""

import weakref

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class LiveBytes(TorchDispatchMode):
    """Context manager that measures the memory of the tensors created within it.

    ``peak`` is the largest number of bytes that these tensors had at one time, ``largest`` that of
    one tensor. ``known`` are tensors that existed before; they and their views are not counted.
    """

    def __init__(self, known):
        super().__init__()
        self.now = self.peak = self.largest = 0
        self.seen = {storage_of(tensor) for tensor in known}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        output = function(*args, **(kwargs or {}))
        for tensor in tree_leaves(output):
            # The indices and values of a sparse tensor are tensors of their own.
            is_plain = isinstance(tensor, Tensor) and not tensor.is_sparse
            if is_plain and storage_of(tensor) not in self.seen:
                self._made(tensor.untyped_storage())
        self.peak = max(self.peak, self.now)
        return output

    def _made(self, storage):
        self.seen.add(storage._cdata)
        self.now += storage.nbytes()
        self.largest = max(self.largest, storage.nbytes())
        weakref.finalize(storage, self._gone, storage._cdata, storage.nbytes())

    def _gone(self, place, size):
        self.seen.discard(place)
        self.now -= size


def storage_of(tensor):
    return tensor.untyped_storage()._cdata
