"""Exchanges arrays with other libraries by DLPack. DLPack cannot name the daemon's devices, so other libraries get copies on the host."""

from __future__ import annotations

import functools

from .jax import NAME


def register() -> None:
    """Gives JAX's arrays on the daemon the methods of DLPack."""
    from jax._src import array

    array.ArrayImpl.__dlpack__ = _exporting(array.ArrayImpl.__dlpack__)
    array.ArrayImpl.__dlpack_device__ = _placing(array.ArrayImpl.__dlpack_device__)


def _is_on_the_daemon(array) -> bool:
    devices = array.sharding.device_set
    return len(devices) == 1 and next(iter(devices)).platform == NAME


def _exporting(method):
    @functools.wraps(method)
    def exporting(array, *, copy: bool | None = None, **parameters):
        if not _is_on_the_daemon(array):
            return method(array, copy=copy, **parameters)
        if copy is False:
            raise BufferError("An array on hlod is in the daemon's memory: DLPack takes a copy of it (copy=None or True).")
        import jax

        return method(jax.device_put(array, jax.local_devices(backend="cpu")[0]), **parameters)

    return exporting


def _placing(method):
    @functools.wraps(method)
    def placing(array):
        if not _is_on_the_daemon(array):
            return method(array)
        from jax._src.dlpack import DLDeviceType

        return DLDeviceType.kDLCPU, 0

    return placing
