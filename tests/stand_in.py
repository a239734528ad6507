"""A simulated GPU without float64, like Apple's. It computes on the CPU.

The device is called ``ipu``, because torch refuses ``mps`` and ``xpu`` if it is built without them.
"""

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map

PLACE = torch.device("ipu", 0)


class There(torch.Tensor):
    """Tensor on the simulated device. ``held`` is the CPU tensor with its values."""

    @staticmethod
    def __new__(cls, held):
        if held.dtype == torch.float64:
            raise TypeError("float64 is not a dtype of this device")
        made = torch.Tensor._make_wrapper_subclass(
            cls, held.shape, strides=held.stride(), dtype=held.dtype, device=PLACE
        )
        made.held = held
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl

    def __repr__(self):
        return f"There({self.held!r})"

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        given = (args, kwargs or {})
        known = {id(one.held): one for one in tree_leaves(given) if isinstance(one, There)}
        plain = tree_map(held, given)
        made = func(*plain[0], **plain[1])
        return tree_map(lambda one: known.get(id(one), there(one)), made)


def held(one):
    return one.held if isinstance(one, There) else one


def there(one):
    return There(held(one)) if isinstance(one, torch.Tensor) else one


class StandIn(TorchFunctionMode):
    """Context manager in which tensors can be moved to the simulated device and back."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func not in (torch.Tensor.to, torch.Tensor.cpu):
            return func(*args, **kwargs)
        target = "cpu" if func is torch.Tensor.cpu else [*args[1:], *kwargs.values()][0]
        if isinstance(target, torch.dtype):
            return func(*args, **kwargs)
        return (held if torch.device(target).type == "cpu" else there)(args[0])
