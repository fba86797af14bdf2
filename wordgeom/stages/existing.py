"""Output that exists already: is it what was asked for?"""

from __future__ import annotations

import os

from wordgeom.core.errors import WordgeomError
from wordgeom.core.requests import different_content
from wordgeom.stages.stage import Outcome
from wordgeom.storage.store import Store


def readable(out: str | os.PathLike[str], kind: str) -> Store:
    """Open the store at `out`; raises OutputExistsError for anything but one of this kind."""
    try:
        made = Store.open(out)
    except WordgeomError as error:
        raise different_content(out, f"a store that cannot be read ({error})") from None
    if made.kind != kind:
        raise different_content(out, f"a {made.kind} store")
    return made


def checked(made: Store) -> Outcome:
    """Return the outcome of a store that is up to date, after verifying every byte of it.

    Raises OutputExistsError for a damaged store.
    """
    try:
        made.check()
    except WordgeomError as error:
        raise different_content(made.path, f"a damaged store ({error})") from None
    return Outcome(f"{made.path}: up to date", made.path, value=made)
