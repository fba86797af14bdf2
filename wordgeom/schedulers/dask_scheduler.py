"""Blocks on the workers of a Dask cluster.

Dask carries functions, bounds, options and digests. Arrays are files of the shared folder.
"""

from __future__ import annotations

import contextlib
import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from wordgeom.core.errors import LostSchedulerError, SchedulerError
from wordgeom.core.types import Array
from wordgeom.runtime.provenance import versions
from wordgeom.runtime.scheduler import Result, Shared
from wordgeom.schedulers import worker
from wordgeom.schedulers.block_file import Receipt, take_block
from wordgeom.schedulers.shared_array import SharedArray
from wordgeom.schedulers.shared_folder import SharedFolder

_Block = TypeVar("_Block")
_Spec = TypeVar("_Spec")
_QUEUED = 4  # blocks running or queued per thread of the workers
_PATIENCE = 30.0  # seconds without a result after which missing workers are reported
_log = logging.getLogger(__name__)


class DaskScheduler:
    """Computes blocks on a Dask cluster: `share` arrays, then `map`.

    client: a distributed.Client; used: whether a block was sent. Raises SchedulerError where
    workers cannot compute blocks.
    """

    def __init__(self, client: Any, folder: SharedFolder) -> None:
        self._client, self._folder = client, folder
        self._run = worker.Run.of(folder.path, folder.token)
        self._warned = {""}
        self.used = self._waiting = False
        self._check_workers()

    @property
    def threads(self) -> int:
        """Number of threads of all workers that are connected, at least 1."""
        return max(1, sum(int(each["nthreads"]) for each in self._workers.values()))

    def share(self, array: Array) -> SharedArray:
        """Write an array to the shared folder; raises WriteError."""
        return self._folder.share(array)

    def release(self, *shared: Shared) -> None:
        """Remove the files of arrays that no later map reads."""
        for each in shared:
            assert isinstance(each, SharedArray)
            self._folder.release(each)

    def map(
        self,
        compute: Callable[[_Block, _Spec], Result],
        blocks: Sequence[_Block],
        spec: _Spec,
        ahead: int | None = None,
    ) -> Iterator[Result]:
        """Yield compute(block, spec) for every block, in order.

        compute: a function of a module. Raises what it raises; LostSchedulerError; SchedulerError.
        """
        waiting: deque[Any] = deque()
        room = _QUEUED * self.threads if ahead is None else ahead
        try:
            for block in blocks:
                waiting.append(self._submit(compute, block, spec))
                if len(waiting) > room:
                    yield self._result(waiting.popleft())
            while waiting:
                yield self._result(waiting.popleft())
        finally:
            if waiting and self._connected:
                self._client.cancel(list(waiting), force=True)

    def close(self) -> None:
        """Let the workers close the files of the shared folder."""
        # OSError: the scheduler was lost just now, and the client does not know yet.
        with contextlib.suppress(LostSchedulerError, OSError), _loss_reported():
            if self._connected:
                self._client.run(worker.forget, self._run, on_error="ignore")

    @property
    def _connected(self) -> bool:
        return bool(self._client.status == "running")

    @property
    def _workers(self) -> dict[str, Any]:
        with _loss_reported():
            known = self._client.scheduler_info(n_workers=-1)
        if not self._connected or "workers" not in known:
            raise _lost()
        workers: dict[str, Any] = known["workers"]
        return workers

    def _check_workers(self) -> None:
        """Wait for a worker, and ask all that are connected whether they belong to this run."""
        while not self._workers:
            try:
                self._client.wait_for_workers(1, timeout=_PATIENCE)
            except TimeoutError:
                self._note_waiting()
        with _loss_reported():
            try:  # the scheduler unpacks what the client sends
                self._client.run_on_scheduler(versions)
            except ImportError as error:
                what = f"the scheduler cannot import wordgeom: {error}"
                raise SchedulerError(what, do=worker.REMEDY) from error
            answers = self._client.run(worker.admit, self._run, on_error="return")
        for address, answer in answers.items():
            if isinstance(answer, OSError):  # it was lost just now
                continue
            if isinstance(answer, BaseException):
                raise SchedulerError(f"the worker at {address} failed: {answer}", do=worker.REMEDY)
            if answer.refusal:
                raise SchedulerError(answer.refusal, do=worker.REMEDY)
            self._warn(answer.warning)

    def _warn(self, how: str) -> None:
        """Log once how a worker differs from the client."""
        if how not in self._warned:
            self._warned.add(how)
            _log.warning("%s: the bytes of the result may differ", how)

    def _submit(self, compute: Callable[..., Result], block: Any, spec: Any) -> Any:
        if not self._connected:
            raise _lost()
        self.used = True
        submit, run = self._client.submit, self._run
        return submit(worker.compute_block, run, compute, block, spec, pure=False)

    def _result(self, future: Any) -> Result:
        from distributed import KilledWorker

        try:
            with _loss_reported():
                receipt = self._receipt(future)
        except KilledWorker as error:
            what = "a block was given up, because each worker that computed it died"
            raise SchedulerError(what, do="give each worker more memory") from error
        self._warn(receipt.warning)
        return take_block(self._folder.path, receipt)

    def _receipt(self, future: Any) -> Receipt:
        """Wait for the receipt of a block; report when there is no worker to compute it."""
        while True:
            try:
                receipt: Receipt = future.result(timeout=_PATIENCE)
                self._waiting = False
                return receipt
            except TimeoutError:
                if self._workers:
                    self._waiting = False
                else:
                    self._note_waiting()

    def _note_waiting(self) -> None:
        """Log that all workers are missing, once until there are some again."""
        if not self._waiting:
            _log.info("note: waiting for workers")
        self._waiting = True


@contextmanager
def _loss_reported() -> Iterator[None]:
    """Turn the errors of a lost connection into LostSchedulerError."""
    from distributed.client import FutureCancelledError
    from distributed.comm import CommClosedError

    try:
        yield
    except (FutureCancelledError, CommClosedError) as error:
        raise _lost() from error


def _lost() -> LostSchedulerError:
    do = "continue with --resume, with the same scheduler, another one or none"
    return LostSchedulerError("lost the connection to the scheduler", do=do)
