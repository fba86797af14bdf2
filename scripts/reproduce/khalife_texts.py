"""Table 6: F1 of text classification by a convolutional network and by logistic regression."""

from __future__ import annotations

import gzip
import re
import sys
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from khalife_cnn import Settings, embedding, predict, rows_of
from khalife_noise import require_torch
from khalife_rows import DC, EIGS, GBU, PEERS, RANDOM, Rows
from tables_report import Claim, Timed, conclude, judge, show, timed

from wordgeom.core.errors import InputError
from wordgeom.corpus.tokens.in_memory import words
from wordgeom.evaluation.answers import Answers, Score, scores
from wordgeom.evaluation.classification import (
    CONTRADICTORY,
    MEASURES,
    REPEATED,
    LabelledTexts,
)
from wordgeom.evaluation.exclusions import count_reasons, exclusions
from wordgeom.evaluation.options import EvalOptions
from wordgeom.linalg.device import open_context
from wordgeom.runtime.context import Context
from wordgeom.runtime.run_options import UseOptions
from wordgeom.vectors.keyed import Vectors

SUBJECTIVITY, WEBKB, AMAZON = "Subjectivity", "WebKB", "Amazon"
CLASSES = ("student", "faculty", "course", "project")  # of WebKB, as usual
CNN, REGRESSION = "network", "regression"
FAR, NEAR = 3.0, 2.0  # points of F1
_TEST, _SEED, _RESAMPLES = 0.2, 1, 1000
# row: F1 by K for Subjectivity, WebKB, Amazon
PUBLISHED: Mapping[str, Mapping[int, tuple[float, float, float]]] = {
    RANDOM: {100: (80.09, 91.12, 74.26), 200: (81.34, 91.84, 76.33), 300: (81.63, 92.37, 76.24)},
    GBU: {100: (88.21, 93.04, 80.58), 200: (88.05, 93.68, 81.39), 300: (88.31, 93.40, 82.36)},
    DC: {100: (87.86, 92.03, 80.61), 200: (88.28, 92.65, 82.49), 300: (87.97, 92.80, 82.54)},
    EIGS: {100: (88.17, 92.19, 80.0), 200: (88.10, 92.52, 81.86), 300: (87.66, 92.21, 81.95)},
    "glove": {100: (87.96, 93.07, 79.75), 200: (87.62, 93.24, 79.76), 300: (87.81, 93.22, 81.57)},
    "fasttext": {100: (87.71, 93.37, 80.64), 200: (88.02, 93.57, 81.57),
                 300: (88.03, 93.82, 82.64)},
}  # fmt: skip
SETS = (SUBJECTIVITY, WEBKB, AMAZON)
_REVIEW = re.compile(r"<review_text>(.*?)</review_text>", re.DOTALL)

Found = Mapping[tuple[str, int, str, str], Score]  # row, K, set, classifier


def labelled(name: str, pairs: Iterable[tuple[str, str]]) -> LabelledTexts:
    """Return a set of (label, text), without repeated and contradictory texts."""
    labels, texts = zip(*pairs, strict=True)
    reasons = exclusions(texts, labels, REPEATED, CONTRADICTORY)
    used = [k for k, reason in enumerate(reasons) if not reason]
    names = sorted({labels[k] for k in used})
    gold = np.array([names.index(labels[k]) for k in used], np.int64)
    kept = tuple(texts[k] for k in used)
    return LabelledTexts(name, EvalOptions(), kept, gold, tuple(names), count_reasons(reasons))


def read(
    webkb: Path | None, subjectivity: Sequence[Path] | None, amazon: Path | None
) -> list[LabelledTexts]:
    """Return the data sets that are given; raises InputError for one without texts."""
    found = []
    if subjectivity:
        pairs = [
            (kind, line.strip())
            for kind, path in zip(("plot", "quote"), subjectivity, strict=True)
            for line in _text(path).splitlines() if line.strip()
        ]  # fmt: skip
        found.append((SUBJECTIVITY, subjectivity[0], pairs))
    if webkb:
        cells = [line.split("\t") for line in _text(webkb).splitlines()]
        found.append((WEBKB, webkb, [(c[0], c[-1]) for c in cells if c[0] in CLASSES]))
    if amazon:
        found.append((AMAZON, amazon, reviews(amazon)))
    for _, path, pairs in found:
        if len({label for label, _ in pairs}) < 2:
            raise InputError("found fewer than two classes", where=path, do="check the file")
    return [labelled(name, pairs) for name, _, pairs in found]


def reviews(path: Path) -> list[tuple[str, str]]:
    """Return (negative or positive, text) of each review in an archive; raises InputError."""
    found = []
    try:
        with tarfile.open(path) as archive:
            for member in sorted(archive.getmembers(), key=lambda one: one.name):
                label = Path(member.name).stem
                file = archive.extractfile(member) if member.name.endswith(".review") else None
                if file is not None and label != "unlabeled":
                    texts = _REVIEW.findall(_decoded(file.read()))
                    found += [(label, " ".join(text.split())) for text in texts]
    except tarfile.TarError as error:
        raise InputError(f"not a readable archive: {error}", where=path) from None
    return found


def _text(path: Path) -> str:
    data = path.read_bytes()
    return _decoded(gzip.decompress(data) if path.suffix == ".gz" else data)


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def split(size: int, most: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of random training and test texts, `most` in all (0: all)."""
    order = np.random.default_rng(seed).permutation(size)[: most or size]
    held = max(1, round(_TEST * len(order)))
    return order[held:], order[:held]


def network(
    data: LabelledTexts, tokens: Sequence[Sequence[str]], vectors: Vectors, most: int,
    settings: Settings,
) -> Answers:  # fmt: skip
    """Return the answers of the network to the test part of a data set."""
    train, test = split(len(tokens), most, _SEED)
    texts = rows_of(tokens, vectors, settings.length)
    given = predict(embedding(vectors), [texts[k] for k in train], data.gold[train],
                    [texts[k] for k in test], _SEED, settings)  # fmt: skip
    return Answers("classification", data.name, MEASURES, test, given, data.gold[test])


def criteria(found: Found) -> list[Claim]:
    """Return the criteria of Table 6, for the network."""
    F1 = {(row, K, name): 100 * score.value
          for (row, K, name, how), score in found.items() if how == CNN}  # fmt: skip
    rules, close = [], []
    for row, K, name in F1:
        if row != RANDOM and (RANDOM, K, name) in F1:
            gain = F1[row, K, name] - F1[RANDOM, K, name]
            holds = gain <= FAR if name == WEBKB else gain >= FAR
            rules.append((f"{row} − random = {gain:.1f}, {name}, K = {K}", holds))
        best = max((F1[peer, K, name] for peer in PEERS if (peer, K, name) in F1), default=None)
        if row == GBU and best is not None:
            gap = F1[row, K, name] - best
            close.append((f"{gap:.1f}, {name}, K = {K}", gap >= -NEAR))
    return [judge("Table 6, random", rules), judge("Table 6, close", close)]


def run(rows: Rows, dims: Sequence[int], sets: Sequence[LabelledTexts], full: bool) -> None:
    """Print Table 6 with its criteria. Raises UnavailableError without Torch."""
    require_torch().set_num_threads(rows.threads)
    most, settings = (0, Settings(length=400)) if full else (3000, Settings())
    tokens = {data.name: [words(text) for text in data.texts] for data in sets}
    sizes = [f"{data.name} {len(data.texts):,} in {len(data.labels)} classes" for data in sets]
    some = f"{most:,} texts of a set" if most else "all texts"
    title = (
        f"## Table 6: macro F1\n\n{'; '.join(sizes)}. Network: {some}, a fifth of them for testing;"
        f" {settings}. Regression: ten folds, all texts. Brackets: 95 % intervals over texts."
    )
    found: dict[tuple[str, int, str, str], Score] = {}
    times: dict[tuple[str, int], float] = {}
    with open_context(UseOptions(threads=rows.threads)) as context:
        for K in dims:
            for name in rows.names(K):
                vectors = rows.vectors(name, K)
                for data in sets:
                    both, took = _measure(data, tokens[data.name], vectors, most, settings, context)
                    times[name, K] = times.get((name, K), 0.0) + took.cpu
                    found |= {(name, K, data.name, how): one for how, one in both.items()}
                    done = ", ".join(f"{how} {_cell(one)}" for how, one in both.items())
                    print(f"{name}, K = {K}, {data.name}: {done}", file=sys.stderr, flush=True)
    _print(found, times, [data.name for data in sets], title)


def _measure(
    data: LabelledTexts, tokens: Sequence[Sequence[str]], vectors: Vectors, most: int,
    settings: Settings, context: Context,
) -> tuple[dict[str, Score], Timed]:  # fmt: skip
    answers, took = timed(lambda: network(data, tokens, vectors, most, settings))
    linear = data.answer(vectors, context)
    pairs = ((CNN, answers), (REGRESSION, linear))
    return {how: scores(each, _RESAMPLES, _SEED)[0] for how, each in pairs}, took


def _print(
    found: Found, times: Mapping[tuple[str, int], float], sets: Sequence[str], title: str
) -> None:
    lines = []
    for row, K in times:
        cells = []
        for name in sets:
            printed = PUBLISHED.get(row, {}).get(K)
            cells += [_cell(found[row, K, name, CNN])]
            cells += ["" if printed is None else f"{printed[SETS.index(name)]:.2f}"]
            cells += [_cell(found[row, K, name, REGRESSION])]
        lines.append([row, f"{K}", *cells, f"{times[row, K]:.0f}"])
    head = [t for name in sets for t in (f"{name}, network", "paper", REGRESSION)]
    show(title, ["row", "K", *head, "network, CPU s"], lines)
    conclude(criteria(found))


def _cell(score: Score) -> str:
    low, value, high = (100 * x for x in (score.low, score.value, score.high))
    return f"{value:.1f} [{low:.1f}, {high:.1f}]"
