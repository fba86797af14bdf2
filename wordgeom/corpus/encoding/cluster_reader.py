"""Read a text on a cluster: its workers tokenise ranges, which are joined here in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack

import numpy as np

from wordgeom.core.types import Int32
from wordgeom.corpus.encoding import text_ranges
from wordgeom.corpus.encoding.block_joiner import BlockJoiner
from wordgeom.corpus.encoding.memory_limits import ids_limit, longest_record
from wordgeom.corpus.encoding.segments import CorpusCheckpoint, Segment
from wordgeom.corpus.encoding.text_ranges import Range, Reading
from wordgeom.corpus.inputs.part_digests import digest_of_parts, parts_of
from wordgeom.corpus.inputs.readers import Source, file_stamp
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.tokens.spill import Runs
from wordgeom.runtime.block_map import map_blocks
from wordgeom.runtime.context import Context
from wordgeom.runtime.scheduler import Result
from wordgeom.storage.id_stream import Spool

WORTH = 1 << 27  # bytes of text, from which reading it is worth the messages
_NAME = "text-range"  # of results in a checkpoint; text-0, text-1, … are segments


def read_on_cluster(
    sources: Sequence[Source],
    total: int | None,
    options: CorpusOptions,
    runs: Runs,
    context: Context,
    resources: ExitStack,
) -> Segment | None:
    """Return the ids of a text, None for one that is read here; arguments as in `read_segments`.

    Raises what reading raises, and SchedulerError.
    """
    ranges = _worthwhile(sources, options, context)
    if ranges is None:
        return None
    draft = CorpusCheckpoint(context.scratch, ids_limit(context)).begin()
    resources.callback(draft.close)
    segment = Segment([], resources.enter_context(Spool(ids_limit(context), draft.ids)))
    joiner = BlockJoiner(options)
    for result in _read(ranges, sources, total, options, context, ids=True):
        run, rows = absorb_words(result, runs)
        known = result["ids"]
        ids = np.where(known < 0, known, rows[np.maximum(known, 0)]) if len(rows) else known
        for block in text_ranges.blocks_of(result, run, ids):
            joiner.add(block, segment)
    return segment


def count_on_cluster(
    sources: Sequence[Source],
    total: int | None,
    options: CorpusOptions,
    runs: Runs,
    context: Context,
) -> bool:
    """Add the words of a text to `runs`; return False for one that is read here."""
    ranges = _worthwhile(sources, options, context)
    if ranges is None:
        return False
    for result in _read(ranges, sources, total, options, context, ids=False):
        absorb_words(result, runs)
    return True


def absorb_words(result: Result, runs: Runs) -> tuple[int, Int32]:
    """Add the words of a range to the lexicon of this thread; return its run, and their ids."""
    current = runs.mine()
    if current.lexicon.nbytes > runs.limit:
        runs.spill(current)
    return current.run, current.lexicon.absorb(text_ranges.lexicon_of(result))


def _worthwhile(
    sources: Sequence[Source], options: CorpusOptions, context: Context
) -> list[Range] | None:
    """Return the ranges of a text that a cluster should read, else None."""
    if context.cluster is None:
        return None
    size = sum(file_stamp(source.name).get("size", 0) for source in sources)
    return text_ranges.ranges_of(sources, options) if size >= WORTH else None


def _read(
    ranges: list[Range], sources: Sequence[Source], total: int | None, options: CorpusOptions,
    context: Context, *, ids: bool,
) -> Iterator[Result]:  # fmt: skip
    """Yield the result of each range, and set the facts about the files."""
    spec = Reading(options, longest_record(context), ids)
    done = map_blocks(text_ranges.read_range, ranges, spec, context, _NAME, portable=True)
    followed = context.progress.follow(done, "reading", total, "B", text_ranges.bytes_of)
    for one, result in zip(ranges, followed, strict=True):
        parts = zip(one.files, text_ranges.sources_of(result), strict=True)
        for file, (read, part) in enumerate(parts, one.first):
            _add_facts(part, sources[file], starts=read.start == 0)
        yield result


def _add_facts(part: Source, whole: Source, *, starts: bool) -> None:
    """Add what was found in a part of a file; starts: the part is its start, which is inspected."""
    before = parts_of(whole.digest) if whole.digest else []
    parts = parts_of(part.digest)
    if parts is None or before is None:
        whole.digest = part.digest
    else:
        whole.digest = digest_of_parts([*before, *parts])
    whole.bytes, whole.stamp = part.bytes, part.stamp
    whole.repaired += part.repaired
    whole.bad_records += part.bad_records
    whole.first_bad = whole.first_bad or part.first_bad
    for what, number in part.counts.items():
        whole.count(what, number)
    if starts:
        whole.wrapped, whole.looks, whole.markup = part.wrapped, part.looks, part.markup
        whole.cut, whole.header = part.cut, part.header
        whole.empty, whole.misnamed = part.empty, part.misnamed
