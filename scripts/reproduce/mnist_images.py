"""MNIST's images and labels, from their idx files."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wordgeom.core.errors import FormatError
from wordgeom.core.types import Array, Float32

_IMAGES, _LABELS = 0x803, 0x801  # magic numbers of idx files of bytes


@dataclass(frozen=True)
class Images:
    """Pixels (n × d) float32, and digits (n)."""

    pixels: Float32
    digits: Array


def read(images: Path, labels: Path) -> Images:
    """Return MNIST's images; raises FormatError for files that are not a pair of idx files."""
    pixels, digits = _idx(images, _IMAGES, 3), _idx(labels, _LABELS, 1)
    if len(pixels) != len(digits):
        raise FormatError(f"{len(digits)} labels for {len(pixels)} images", where=labels)
    return Images(pixels.reshape(len(pixels), -1).astype(np.float32), digits)


def _idx(path: Path, magic: int, axes: int) -> Array:
    content = path.read_bytes()
    content = gzip.decompress(content) if path.suffix == ".gz" else content
    head = np.frombuffer(content[: 4 * (axes + 1)], ">i4")
    if len(head) <= axes or head[0] != magic or len(content) - head.nbytes != np.prod(head[1:]):
        raise FormatError("is not an idx file of MNIST's format", where=path)
    return np.frombuffer(content, np.uint8, offset=head.nbytes).reshape(head[1:])
