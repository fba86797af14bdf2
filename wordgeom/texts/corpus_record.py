"""What is recorded of the text behind vectors: how it was split, and how often words occurred.

The counts are those given, or a store `cooc` or `dtm` beside the vectors, if the run card of the
vectors names its digest. Without counts, the run card itself records how the text was split. Its
table CORPUS is passed on to vectors with n-grams that are made of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wordgeom.core.errors import WordgeomError
from wordgeom.core.options import flag, specs
from wordgeom.corpus.options import CorpusOptions, TextOptions
from wordgeom.corpus.records.formats import format_of
from wordgeom.corpus.vocabulary import Vocabulary
from wordgeom.matrices.count_request import made_options
from wordgeom.matrices.document_term import Stored, open_stored
from wordgeom.storage import store
from wordgeom.vectors import run_card

CORPUS = "corpus"  # the key of run cards
TEXT_OPTIONS = frozenset(field.name for field, _ in specs(TextOptions))
SPLITTING = ("tokeniser", "case", "strip", "token_pattern", "normalise", "k", "column", "phrases")
_OF_KMERS = ("tokeniser", "k")
_STORES, _COUNTS = ("cooc", "dtm"), "counts"


@dataclass(frozen=True)
class CorpusRecord:
    """splitting: options, by name, {} where unknown; frequencies: of the words, or None.

    tokens: of the whole text; where: what the record was read from; digest: of the counts.
    """

    splitting: Mapping[str, Any] = field(default_factory=dict)
    frequencies: Vocabulary | None = None
    tokens: int = 0
    where: str = ""
    digest: str | None = None


def corpus_facts(counts: store.Store) -> dict[str, Any]:
    """Return what the run card of vectors records of their text: the splitting, and the counts."""
    splitting = splitting_of(counts.card)
    return {CORPUS: {**splitting, _COUNTS: counts.digest}} if splitting else {}


def splitting_of(card: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that split text into words from the card of counts, {} from another."""
    request = card.get("request", {})
    if "tokeniser" not in request.get("options", {}):
        return {}
    options = made_options(request)
    names = _OF_KMERS if options["tokeniser"] == "kmer" else SPLITTING
    return {name: options[name] for name in names if options.get(name) is not None}


def corpus_record(vectors: Path | None, counts: Path | None) -> CorpusRecord:
    """Return what is recorded of the text; raises what `open_stored` raises for given counts."""
    if counts is not None:
        return _of_counts(open_stored(counts))
    card = None if vectors is None else run_card.read_card(vectors)
    if card is None or vectors is None:
        return CorpusRecord()
    inputs, held = card.get("request", {}).get("inputs", []), card.get(CORPUS)
    held = held if isinstance(held, dict) else {}
    digests = [one.get("digest") for one in inputs if isinstance(one, dict)]
    digests.append(held.get(_COUNTS))
    for name in _STORES:
        if (found := _counts_of(vectors.parent / name, digests)) is not None:
            return _of_counts(found)
    if not held:
        return CorpusRecord()
    splitting = {name: held[name] for name in SPLITTING if name in held}
    return CorpusRecord(splitting, where=str(run_card.card_path(vectors)))


def _counts_of(path: Path, digests: list[Any]) -> Stored | None:
    if not store.exists(path):
        return None
    try:
        found = open_stored(path)
    except WordgeomError:  # it was not asked for
        return None
    return found if found.store.digest in digests else None


def _of_counts(stored: Stored) -> CorpusRecord:
    counts = stored.vocabulary.counts
    tokens = max(int(counts.sum()), int(stored.store.attributes.get("tokens") or 0))
    vocabulary = stored.vocabulary if counts.any() else None
    return CorpusRecord(
        splitting_of(stored.store.card), vocabulary, tokens, str(stored.path),
        stored.store.digest,
    )  # fmt: skip


def reading_options(
    record: CorpusRecord, given: Mapping[str, Any], names: Sequence[str]
) -> CorpusOptions:
    """Return the options to read texts with: those given, then those recorded. Raises OptionError.

    names: of the texts; the column that was read counts for files that have such columns.
    """
    asked = CorpusOptions.take(given)
    recorded = {k: v for k, v in record.splitting.items() if k in TEXT_OPTIONS}
    if not any(format_of(name, asked) == "conllu" for name in names):
        recorded.pop("column", None)
    if {**recorded, **given}.get("tokeniser") != "kmer":
        recorded.pop("k", None)
    return CorpusOptions.asked(given, {**recorded, "min_count": 1})


def splitting_notes(
    record: CorpusRecord, reading: CorpusOptions, given: Mapping[str, Any], vectors: str
) -> Iterator[str]:
    """Yield notes where the texts may be split in another way than the text behind vectors.

    given: options of the texts that were given, by name; vectors: their name.
    """
    recorded = record.splitting
    if not recorded and "tokeniser" not in given:
        yield (
            f"it is not recorded how the text behind {vectors} was split; "
            f"--tokeniser {reading.tokeniser} is assumed"
        )
    for name, value in recorded.items():
        if name in given and getattr(reading, name) != value:
            yield f"the text behind {vectors} was split with {flag(name)} {value}"
    if recorded.get("phrases"):
        yield f"phrases are not joined in the texts as in the text behind {vectors}"
