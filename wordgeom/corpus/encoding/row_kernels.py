"""Loops over provisional ids: map them to rows of the matrix, find the documents among them."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Float64, Int32, Int64
from wordgeom.corpus.tokens.kernels import FILE_END
from wordgeom.runtime.jit import kernel


@kernel
def uniform(seed: int, position: int) -> float:
    """Return a number in [0, 1) that depends only on (seed, position): splitmix64."""
    x = np.uint64(seed) * np.uint64(0xD1342543DE82EF95) + np.uint64(position)
    x = (x + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return np.float64(x >> np.uint64(11)) * 2.0**-53


@kernel
def map_ids(
    ids: Int32, mapping: Int32, oov: int, drop: bool, keep: Float64, seed: int, gap: int,
    apart: int, short: int, state: Int64, out: Int32,
) -> int:  # fmt: skip
    """Map provisional ids to final ones, with `gap` ids `apart` between documents.

    mapping: provisional → final id or `oov`; keep (oov + 1) float64: the probability to keep each
    word, empty to keep all; drop: omit tokens that are subsampled or out of vocabulary, instead of
    writing `oov`. state (6) int64: tokens read, documents begun, tokens of the current document,
    whether a gap is due, documents shorter than `short`, tokens written with a row.
    Returns the number of ids written to `out`.
    """
    tokens, documents, length, gap_due, shorts, kept = state
    thin = len(keep) > 0
    written = 0
    for k in range(len(ids)):
        word = ids[k]
        if word < 0:
            if length > 0:
                shorts += length < short
                length = 0
                gap_due = 1
            continue
        if length == 0:
            documents += 1
            if gap_due != 0:
                for _ in range(gap):
                    out[written] = apart
                    written += 1
                gap_due = 0
        final = mapping[word]
        if thin and final != oov and uniform(seed, tokens) >= keep[final]:
            final = oov
        tokens += 1
        length += 1
        kept += final != oov
        if final != oov or not drop:
            out[written] = final
            written += 1
    state[:] = tokens, documents, length, gap_due, shorts, kept
    return written


@kernel
def find_documents(ids: Int32, state: Int64, files: Int64, lines: Int64) -> int:
    """Set the file and line, both from 0, of each document that begins among `ids`.

    state (3) int64: the file, the line of its last document, whether a document is open.
    Returns the number of documents that begin.
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
    ids: Int32, mapping: Int32, V: int, keep: Float64, seed: int, rows: Int64, size: int,
    state: Int64, out: Int32, splits: Int64,
) -> int:  # fmt: skip
    """Write the words of documents, each passage followed by an id V.

    mapping: provisional → final id, V for a token to omit; keep (V + 1): the probability to keep
    each word, empty to keep all; rows: the numbers of the documents that begin among `ids`,
    ascending; size: tokens of a passage, of which those that are omitted count too. state (7)
    int64: tokens read, tokens written, documents ended, whether a document is open, tokens of its
    passage, ids pending, and the number of splits. An id V and those after it are pending while
    they may still join the passage before: they end `out`, and must begin it in the next call.
    splits: set to the document of each new passage. Returns the number of ids in `out` that are not
    pending; the last open documents are not ended yet.
    """
    tokens, kept, ended, is_open, length, pending, _ = state
    thin = len(keep) > 0
    half = (size + 1) // 2  # tokens of the shortest passage after another
    written = int(pending)
    begun = 0
    found = 0
    mark = 0 if pending > 0 else -1  # of a V that is pending
    for word in ids:
        if word < 0:
            is_open = 0
            if mark >= 0:
                for at in range(mark, written - 1):
                    out[at] = out[at + 1]
                written -= 1
                mark = -1
            continue
        if is_open == 0:
            is_open = 1
            length = 0
            while ended < rows[begun]:
                out[written] = V
                written += 1
                ended += 1
            begun += 1
        elif length == size:
            length = 0
            out[written] = V
            mark = written
            written += 1
        final = mapping[word]
        if final != V and not (thin and uniform(seed, tokens) >= keep[final]):
            out[written] = final
            written += 1
            kept += 1
        tokens += 1
        length += 1
        if length == half and mark >= 0:
            splits[found] = ended
            found += 1
            mark = -1
    pending = written - mark if mark >= 0 else 0
    state[:] = tokens, kept, ended, is_open, length, pending, found
    return written - pending
