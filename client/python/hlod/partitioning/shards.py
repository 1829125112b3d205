"""Cuts arrays into the parts that the devices of a partitioned program take, and joins parts of results.

The divisions are HLO's text: '{devices=[4,1,2]<=[8] last_tile_dim_replicate}' has 4 parts along the first dimension and 1 along the
second, and each part on 2 devices. Where sizes do not divide, the last parts are filled with zeros.
"""

from __future__ import annotations

import math
import re

_DEVICES = re.compile(r"devices=\[([\d,]+)\](?:<=\[([\d,]+)\](?:T\(([\d,]+)\))?|([\d,]+))")
_SUBGROUPS = re.compile(r"last_tile_dims=\{([^}]*)\}")


def tiles_of(sharding: str, rank: int, devices: int) -> tuple[list[int], list[tuple]]:
    """Returns the number of parts along each dimension, and each device's part as a position."""
    import numpy as np

    match = _DEVICES.search(sharding)
    if match is None:
        if "maximal" in sharding:
            raise ValueError(f"the sharding {sharding} places an array on one device")
        return [1] * rank, [(0,) * rank] * devices
    dims = _numbers(match[1])
    if match[2]:
        order = np.arange(math.prod(dims)).reshape(_numbers(match[2]))
        order = (order.transpose(_numbers(match[3])) if match[3] else order).reshape(dims)
    else:
        order = np.asarray(_numbers(match[4])).reshape(dims)
    subgroups = _SUBGROUPS.search(sharding)
    extra = len(subgroups[1].split(",")) if subgroups else int("last_tile_dim_replicate" in sharding)
    if len(dims) - extra != rank or order.size != devices:
        raise ValueError(f"the sharding {sharding} is not one of an array of {rank} dimensions among {devices} devices")
    positions = [()] * devices
    for position, device in np.ndenumerate(order):
        positions[int(device)] = position[:rank]
    return dims[:rank], positions


def cut(array, sharding: str, devices: int) -> list:
    """Returns each device's part; devices with the same one share it."""
    import numpy as np

    parts, positions = tiles_of(sharding, array.ndim, devices)
    sizes = [-(-size // count) for size, count in zip(array.shape, parts)]
    missing = [(0, size * count - whole) for size, count, whole in zip(sizes, parts, array.shape)]
    padded = np.pad(array, missing) if any(after for _, after in missing) else array
    made = {}
    for position in positions:
        if position not in made:
            made[position] = padded[tuple(slice(at * size, (at + 1) * size) for at, size in zip(position, sizes))]
    return [made[position] for position in positions]


def join(shards: list, sharding: str, shape) -> object:
    """Returns the array of this shape that the devices hold parts of."""
    import numpy as np

    parts, positions = tiles_of(sharding, len(shape), len(shards))
    if all(count == 1 for count in parts):
        return shards[0]
    sizes = shards[0].shape
    whole = np.zeros([size * count for size, count in zip(sizes, parts)], shards[0].dtype)
    for position, shard in zip(positions, shards):
        whole[tuple(slice(at * size, (at + 1) * size) for at, size in zip(position, sizes))] = shard
    return whole[tuple(slice(size) for size in shape)]


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]
