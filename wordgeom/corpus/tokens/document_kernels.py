"""The loops over provisional ids that tell documents apart, and write their words."""

from __future__ import annotations

from wordgeom.core.types import Float64, Int32, Int64
from wordgeom.corpus.tokens.kernels import FILE_END, uniform
from wordgeom.runtime.jit import kernel


@kernel
def find_documents(ids: Int32, state: Int64, files: Int64, lines: Int64) -> int:
    """Note the file and line, both from 0, of each document that begins among `ids`.

    state (3) int64: the file, the line where its last document begins, whether a document is open.
    Returns how many begin.
    """
    file, line, is_open = state
    found = 0
    for word in ids:
        if word >= 0:
            if is_open == 0:
                is_open = 1
                files[found] = file
                lines[found] = line
                found += 1
        else:
            is_open = 0
            if word == FILE_END:
                file += 1
                line = 0
            else:
                line -= word
    state[:] = file, line, is_open
    return found


@kernel
def map_documents(
    ids: Int32, mapping: Int32, V: int, keep: Float64, seed: int, rows: Int64, state: Int64,
    out: Int32,
) -> int:  # fmt: skip
    """Write the words of documents, each document followed by an id V.

    mapping: provisional → final id, V for none, which is left out; keep (V + 1): a word's
    probability to be kept, empty for all; rows: those of the documents that begin among `ids`,
    ascending. state (4) int64: tokens seen, tokens written, rows ended, whether a document is open.
    Returns how many ids were written to `out`; those that end the last rows are still to come.
    """
    tokens, kept, ended, is_open = state
    thin = len(keep) > 0
    written = 0
    begun = 0
    for word in ids:
        if word < 0:
            is_open = 0
            continue
        if is_open == 0:
            is_open = 1
            while ended < rows[begun]:
                out[written] = V
                written += 1
                ended += 1
            begun += 1
        final = mapping[word]
        if final != V and not (thin and uniform(seed, tokens) >= keep[final]):
            out[written] = final
            written += 1
            kept += 1
        tokens += 1
    state[:] = tokens, kept, ended, is_open
    return written
