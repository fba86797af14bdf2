"""Arrays in files of the shared folder, which workers map into memory."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wordgeom.core.errors import SchedulerError
from wordgeom.core.types import Array
from wordgeom.storage.scratch import raw_bytes

# Open arrays of a worker: those of one map (sign flips read 17), of two runs. A removed file keeps
# its disk space while it is open.
_OPEN = 36
_opened: OrderedDict[SharedArray, Array] = OrderedDict()
_lock = threading.Lock()


@dataclass(frozen=True)
class SharedArray:
    """An array in a .npy file; digest: SHA-256 of dtype, shape and values (`array_digest`)."""

    path: str
    digest: str

    def open(self) -> Array:
        """Return the array, mapped into memory and verified when this process first opens it.

        Raises SchedulerError for a file that is missing or differs.
        """
        with _lock:
            array = _opened.pop(self, None)
            if array is None:
                array = self._verified()
            _opened[self] = array
            while len(_opened) > _OPEN:
                _opened.popitem(last=False)
        return array

    def _verified(self) -> Array:
        do = "check the shared folder"
        try:
            # Copy on write: the kernels of a local run are compiled for writable arrays.
            array = np.asarray(np.load(self.path, mmap_mode="c", allow_pickle=False))
        except (OSError, ValueError) as error:
            what = f"cannot be read by a worker: {error}"
            raise SchedulerError(what, where=self.path, do=do) from None
        if array_digest(array) != self.digest:
            what = "a worker reads other bytes than were written"
            raise SchedulerError(what, where=self.path, do=do)
        return array


def array_digest(array: Array) -> str:
    """Return the SHA-256 of the dtype, the shape and the values of a C-contiguous array."""
    digest = hashlib.sha256(f"{array.dtype.str} {array.shape} ".encode())
    digest.update(raw_bytes(array))
    return digest.hexdigest()


def forget_arrays(folder: str) -> None:
    """Close the arrays of a shared folder in this process."""
    with _lock:
        for shared in [one for one in _opened if Path(one.path).parent == Path(folder)]:
            del _opened[shared]
