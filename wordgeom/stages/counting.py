"""What the stages that count text share: what is up to date, what is refused, what is told."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from wordgeom.checkpoint.state import Kept, ResumeOptions, forget, state_folder
from wordgeom.core import requests
from wordgeom.core.errors import LockedError, WordgeomError
from wordgeom.core.formatting import several
from wordgeom.corpus.inputs.input_warnings import remarks
from wordgeom.corpus.inputs.readers import is_stream
from wordgeom.corpus.inputs.segments import Keeper
from wordgeom.corpus.tokens.document_index import documents_bytes
from wordgeom.corpus.tokens.encode import Encoded
from wordgeom.corpus.tokens.row_mapping import MakeSink
from wordgeom.corpus.vocabulary import read_vocabulary_bytes, save_vocabulary
from wordgeom.matrices import vocabulary_file
from wordgeom.matrices.count_request import made_options
from wordgeom.runtime import provenance
from wordgeom.runtime.provenance import Clock
from wordgeom.stages import corpus_inputs
from wordgeom.stages.corpus_inputs import Inputs
from wordgeom.storage import store
from wordgeom.storage.store import Store, StoreWriter


@dataclass(frozen=True)
class Built:
    """A store that a stage made or found; what to tell the user, and warnings before it."""

    store: Store
    summary: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Asked:
    """A count that was asked for.

    kind: of the store `out`; options: those of the request; save_vocab: a file that is to hold the
    words; shard: the part of the whole that is counted, and of how many.
    """

    command: str
    kind: str
    out: str | os.PathLike[str]
    found: Inputs
    options: dict[str, Any]
    save_vocab: Path | None = None
    shard: list[int] | None = None

    def made(self, *, force: bool) -> Built | None:
        """Return the store if it is there as asked for; raises OutputExistsError for another."""
        there = None if force else self._up_to_date()
        words = self.save_vocab
        if words is None:
            return there
        if there is None:
            read = [*self.found.names, *corpus_inputs.word_files(self.found.corpus)]
            vocabulary_file.check(words, read, force=force)
            return None
        held = read_vocabulary_bytes(there.store.text("vocab"), there.store.path / "vocab.tsv")
        if not vocabulary_file.check_made(words, held):
            save_vocabulary(words, held)
        return there

    def kept(self, resume: ResumeOptions, *, force: bool) -> Kept:
        """Return what an earlier run of the same count kept, and what this one keeps."""
        return Kept(state_folder(self.out), self._of_state(), resume, force=force)

    def commit(
        self, writer: StoreWriter, attributes: dict[str, Any], encoded: Encoded, clock: Clock
    ) -> Store:
        """Make the store whole, and with it the file of words."""
        made_from = corpus_inputs.cards(encoded.sources)
        request = {"command": self.command, "options": self.options, "inputs": made_from}
        with vocabulary_file.saved(self.save_vocab, encoded.vocabulary):
            return writer.commit(attributes, provenance.card(request, {}, clock.seconds()))

    def warnings(self, encoded: Encoded, more: Iterable[str] = ()) -> tuple[str, ...]:
        """Return what the user should hear of the inputs, with what the stage has to say."""
        warnings = [*self.found.notes, *encoded.notes, *remarks(encoded.sources), *more]
        repaired = sum(s.repaired for s in encoded.sources)
        if repaired:
            one = "byte that is not UTF-8 was replaced or skipped"
            many = "bytes that are not UTF-8 were replaced or skipped"
            warnings.append(several(repaired, one, many))
        return tuple(warnings)

    def _up_to_date(self) -> Built | None:
        if not store.exists(self.out):
            return None
        made = readable(self.out, self.kind)
        request = made.request
        how = requests.differing_option(self.options, made_options(request))
        if how is None and made.attributes.get("shard") != self.shard:
            how = "another shard"
        if how is None and not corpus_inputs.are_those(self.found.names, request["inputs"]):
            streams = any(map(is_stream, self.found.names))
            how = (
                "text from a pipe, which cannot be compared" if streams else "made from other text"
            )
        if how is not None:
            raise requests.different_content(self.out, how)
        return up_to_date(made, self._of_state())

    def _of_state(self) -> dict[str, Any]:
        """Return whose state it is that the count keeps: what is known before the text is read."""
        known = corpus_inputs.of_request(self.found.names)
        request = {"command": self.command, "options": self.options, "inputs": known}
        return {**request, "shard": self.shard}


def kept_text(
    kept: Kept, read: Callable[[MakeSink, Keeper], Encoded], *, beyond: bool
) -> tuple[Encoded, bytes]:
    """Return a text and its documents.tsv as an earlier run read them, or `read` them.

    beyond: its ids go to V + 1, which is outside of it, not only to V.
    """
    from wordgeom.checkpoint.corpus_writer import KeptText
    from wordgeom.checkpoint.token_ids import KeptIds, find_ids, keep_ids

    held = find_ids(kept, beyond=beyond)
    if held is not None:
        return held
    encoded = read(partial(KeptIds, kept), KeptText(kept))
    documents = documents_bytes([source.documents for source in encoded.sources])
    keep_ids(kept, encoded, documents, len(encoded.vocabulary) + beyond)
    return encoded, documents


def up_to_date(made: Store, request: dict[str, Any]) -> Built:
    """Return what is there as built, every byte of it checked; raises OutputExistsError.

    request: whose state is of no more use.
    """
    try:
        made.check()
    except WordgeomError as error:
        raise requests.different_content(made.path, f"a store that was damaged ({error})") from None
    if state_folder(made.path).exists():
        with suppress(LockedError), store.writer_lock(made.path):
            forget(made.path, request)
    return Built(made, f"{made.path}: up to date")


def readable(out: str | os.PathLike[str], kind: str) -> Store:
    """Open the output that is there already; raises OutputExistsError for anything else."""
    try:
        made = Store.open(out)
    except WordgeomError as error:
        raise requests.different_content(out, f"a store that cannot be read ({error})") from None
    if made.kind != kind:
        raise requests.different_content(out, f"a {made.kind} matrix")
    return made
