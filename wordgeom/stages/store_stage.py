"""The stages whose output is a store: is what exists already what was asked for?"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from wordgeom.core import requests
from wordgeom.core.errors import WordgeomError
from wordgeom.runtime.run_options import RunOptions
from wordgeom.stages.stage import Outcome, Stage
from wordgeom.storage import store
from wordgeom.storage.meta import read_meta_loosely
from wordgeom.storage.store import Store


class StoreStage(Stage):
    """A stage that writes a store of one kind."""

    run: RunOptions
    out: Path

    @property
    @abstractmethod
    def kind(self) -> str:
        """The kind of the store."""

    @property
    def writes_store(self) -> bool:
        """True."""
        return True

    def difference(self, made: Store) -> str | None:
        """Return how a store that exists differs from the one to make, None where it does not."""
        return requests.difference(self.request, made.request)

    def up_to_date(self) -> Outcome | None:
        """Return the store if it exists as requested."""
        _ = self.request  # its mistakes are reported whether or not there is output
        if self.run.force or not store.exists(self.out):
            return None
        return existing(self.out, self.kind, self.difference)


def own_store(path: Path, kind: str, request: Mapping[str, Any], force: bool) -> bool:
    """Return whether a store that is written beside another output was made by this request.

    Raises OutputExistsError where it was made by another, unless `force` is to replace it.
    """
    if force or not store.exists(path):
        return False
    existing(path, kind, lambda made: _difference(request, made))
    store.remove_dead_lock(path)
    return True


def _difference(request: Mapping[str, Any], made: Store) -> str | None:
    if not made.card:  # as `Model.save` writes it
        return "has no run card"
    return requests.difference(request, made.request)


def existing(
    out: str | os.PathLike[str], kind: str, difference: Callable[[Store], str | None]
) -> Outcome:
    """Return the outcome of a store that is up to date, after verifying every byte of it.

    Raises OutputExistsError for anything else: what is damaged, another kind of store, or one with
    a difference.
    """
    try:
        made = Store.open(out)
    except WordgeomError as error:
        read_meta_loosely(Path(out))  # what --force does not overwrite
        raise requests.different_content(out, f"cannot be read ({error})") from None
    if made.kind != kind:
        raise requests.different_content(out, f"is a {made.kind} store")
    if how := difference(made):
        raise requests.stale_output(out, how)
    try:
        made.check()
    except WordgeomError as error:
        raise requests.different_content(made.path, f"is damaged ({error})") from None
    return Outcome(f"{made.path}: up to date", made.path, value=made)
