"""The small input files that the documentation's examples name, made from a fixed seed.

A text is sentences of a few topics; every word that an example queries belongs to one.
"""

from __future__ import annotations

import csv
import gzip
import json
import random
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

TOPICS = (
    "king queen prince princess man woman son daughter throne kingdom royal crown",
    "bank money river valley water boat loan credit stream shore finance account",
    "computer software data program machine network code internet disk memory",
    "climate change warming emissions energy global pandemic health vaccine virus",
    "soviet union war peace treaty weapons nuclear disarmament atomic security",
    "human rights law justice freedom charter nations council assembly general",
    "music band song album guitar piano violin flute drum concert singer",
    "france germany italy spain poland europe paris berlin rome madrid",
    "dog cat horse lion wolf animal forest hunt tail fur",
    "airline airport flight pilot ford apple boeing intel tesla market",
)
_GROUPS = [topic.split() for topic in TOPICS]
_COMMON = [f"w{k}" for k in range(120)]
_YEARS = range(1946, 2025)
_LETTERS = "ACDEFGHIKLMNPQRSTVWY"
_FIRMS = 40
_DAYS = 60


def write(folder: Path) -> None:
    """Write every input file into `folder`."""
    draw = random.Random(1)
    _text(folder / "corpus.txt", _sentences(draw, 1500))
    _text(folder / "part1.txt", _sentences(draw, 300))
    _text(folder / "part2.txt", _sentences(draw, 300))
    _text(folder / "new.txt", [*_sentences(draw, 300), *_sentences(draw, 300, ["waldheim"])])
    (folder / "texts").mkdir()
    for name in ("one", "two"):
        _text(folder / "texts" / f"{name}.txt", _sentences(draw, 200))
    _speeches(folder, draw)
    _dated(folder)
    _tables(folder)
    _book(folder, draw)
    _proteins(folder, draw)
    _firms(folder, draw)
    _sets(folder, draw)


def _text(path: Path, lines: Iterable[str]) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _sentences(draw: random.Random, count: int, extra: Iterable[str] = ()) -> Iterator[str]:
    """Yield sentences of a topic's words, common words among them."""
    for _ in range(count):
        yield " ".join(_words(draw, draw.choice(_GROUPS), 14, extra))


def _words(
    draw: random.Random, topic: list[str], length: int, extra: Iterable[str] = ()
) -> list[str]:
    words = [draw.choice(topic if draw.random() < 0.6 else _COMMON) for _ in range(length)]
    return [*words, *extra]


def _speeches(folder: Path, draw: random.Random) -> None:
    """Write speeches of 1946 to 2024, in which topics come and go."""
    records = []
    for year in _YEARS:
        for country in ("USA", "FRA", "GBR", "IND", "BRA"):
            late = (year - _YEARS[0]) / len(_YEARS)
            topic = _GROUPS[3 if draw.random() < late else 4]
            text = " ".join(draw.choices(topic, k=50) + draw.choices(draw.choice(_GROUPS), k=50))
            records.append({"id": f"{country}-{year}", "year": year, "country": country,
                            "text": text})  # fmt: skip
    _text(folder / "speeches.jsonl", map(json.dumps, records))
    rows = "".join("{id}\t{year}\t{country}\t{text}\n".format(**r) for r in records)
    (folder / "speeches.tsv.gz").write_bytes(gzip.compress(rows.encode(), mtime=0))


def _dated(folder: Path) -> None:
    """Write the speeches of each year into a file, and a table of the files."""
    by_year: dict[int, list[str]] = {}
    for line in (folder / "speeches.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        by_year.setdefault(record["year"], []).append(record["text"])
    (folder / "dated").mkdir()
    for year, texts in by_year.items():
        _text(folder / "dated" / f"{year}-debate.txt", texts)
    rows = (f"{year}-debate.txt,{year}-09,{year - 1945}" for year in by_year)
    _text(folder / "sessions.csv", ["file,date,session", *rows])


def _tables(folder: Path) -> None:
    """Write the speeches as CSV and, if pyarrow is installed, in two Parquet shards."""
    lines = (folder / "speeches.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    with (folder / "speeches.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["id", "year", "country", "text"])
        writer.writeheader()
        writer.writerows(records)
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        return
    (folder / "speeches").mkdir()
    for shard in range(2):
        table = pyarrow.Table.from_pylist(records[shard::2])
        parquet.write_table(table, folder / "speeches" / f"train-0000{shard}-of-00002.parquet")


def _book(folder: Path, draw: random.Random) -> None:
    """Write a hard-wrapped book between the notices of Project Gutenberg."""
    paragraphs = (textwrap.fill(s, 68) + "\n" for s in _sentences(draw, 300, ["flowers"]))
    title = "THIS PROJECT GUTENBERG EBOOK A GARLAND FOR GIRLS ***"
    ends = f"*** START OF {title}\n", f"*** END OF {title}\nLicence"
    _text(folder / "garland.txt", ["Title", ends[0], *paragraphs, ends[1]])


def _proteins(folder: Path, draw: random.Random) -> None:
    sequences = ["".join(draw.choices(_LETTERS[:8], k=90)) for _ in range(80)]
    _text(folder / "proteins.fasta", (f">p{k}\n{s}" for k, s in enumerate(sequences)))
    with (folder / "sequences.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["name", "sequence", "T50", "is_train"])
        for k, sequence in enumerate(sequences[:60]):
            target = sequence.count("A") + draw.random()
            rows.writerow([f"p{k}", sequence, f"{target:.2f}", k < 45])


def _firms(folder: Path, draw: random.Random) -> None:
    """Write daily returns of firms that follow one of four factors, some firms' words beside."""
    known = {"F": "ford", "AAPL": "apple", "BA": "boeing", "INTC": "intel", "TSLA": "tesla",
             "AIR": "airline", "MKT": "market", "PLT": "pilot"}  # fmt: skip
    names = [*known, "AAL", *(f"T{k}" for k in range(_FIRMS - len(known) - 1))]
    factors = [[draw.gauss(0, 1) for _ in range(_DAYS)] for _ in range(4)]
    with (folder / "firms.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["firm", *(f"day{k}" for k in range(_DAYS))])
        for k, name in enumerate(names):
            values = [f"{x + draw.gauss(0, 0.5):.4f}" for x in factors[k % 4]]
            rows.writerow([name, *values[:-1], "" if k == _FIRMS - 1 else values[-1]])
    _text(folder / "names.tsv", (f"{firm}\t{word}" for firm, word in known.items()))


def _sets(folder: Path, draw: random.Random) -> None:
    """Write test sets in which the words of a topic are alike."""
    pairs = []
    for one, other in zip(_GROUPS, [*_GROUPS[1:], _GROUPS[0]], strict=True):
        pairs += [(one[0], one[1], 9.0), (one[2], one[3], 8.0), (one[0], other[1], 1.0)]
    _text(folder / "pairs.txt", (f"{a} {b} {score}" for a, b, score in pairs))
    others = pairs[1:] + [(one[1], one[4], 7.0) for one in _GROUPS]
    _text(folder / "wordsim.txt", (f"{a} {b} {score}" for a, b, score in others[::2]))
    questions = ("man king woman queen", "son prince daughter princess", "king man queen woman")
    _text(folder / "analogies.txt", [": family", *questions])
    features = [f'{word}\t{{"topic{k}": 1.0}}' for k, words in enumerate(_GROUPS) for word in words]
    _text(folder / "oracle.tsv", features)
    classes = {"country": _GROUPS[7][:5], "animal": _GROUPS[8][:5], "instrument": _GROUPS[6][4:9]}
    told = [(name, word) for name, words in classes.items() for word in words]
    _text(folder / "classes.tsv", (f"{word}\t{name}" for name, word in told))
    _text(folder / "attributes.tsv", map("\t".join, told))
    labels = ["plot", "quote"] * 40
    texts = (" ".join(_words(draw, _GROUPS[k % 2], 12)) for k in range(len(labels)))
    _text(folder / "sentences.tsv", map("\t".join, zip(labels, texts, strict=True)))
