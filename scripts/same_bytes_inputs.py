"""The inputs of scripts/same_bytes, cut from the real data: texts, speeches, tables, sequences."""

from __future__ import annotations

import bz2
import csv
import gzip
import hashlib
import itertools
import json
import lzma
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from wordgeom.corpus.inputs.compression import zstd

TEXT_BYTES, SHORT_BYTES = 20_000_000, 2_000_000  # of enwiki
SPEECHES, FEW_SPEECHES = 1000, 60
SEQUENCES, LABELLED = 300, 150  # sequences; sentences of each label
DAYS = 250  # of returns, the last ones
_STOPPED = {"the", "of", "and"}
_SETS = ("WS-353-ALL", "SIMLEX-999", "RG-65", "MTurk-287")


def write_inputs(data: Path, folder: Path) -> None:
    """Write all inputs. Raises OSError where `data` lacks a file."""
    folder.mkdir(parents=True)
    _write_texts(data, folder)
    _write_speeches(data, folder)
    _write_firms(data, folder)
    _write_drugs(data, folder)
    _write_sequences(data, folder)
    _write_sets(data, folder)


def config_inputs(inputs: Path) -> dict[str, Path]:
    """Return the file that stands for each input that the files of configs/ name."""
    return {
        "corpus.txt": inputs / "documents.txt",
        "speeches.jsonl": inputs / "speeches.jsonl",
        "entities.csv": inputs / "entities.csv",
        "pairs.tsv": inputs / "WS-353-ALL.txt",
    }


def digest(folder: Path) -> str:
    """Return the SHA-256 of all inputs, names and bytes."""
    whole = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with path.open("rb") as handle:
            content = hashlib.file_digest(handle, "sha256").hexdigest()
        whole.update(f"{path.relative_to(folder)} {content}\n".encode())
    return whole.hexdigest()


def _write_texts(data: Path, folder: Path) -> None:
    with gzip.open(data / "corpora" / "enwiki-17M.txt.gz") as lines:
        text = lines.read(TEXT_BYTES).decode()
    (folder / "corpus.txt").write_text(text)  # one line
    words = text.split()
    (folder / "documents.txt").write_text("".join(_lines(words, 300)))
    short = list(_lines(text[:SHORT_BYTES].split(), 30))
    (folder / "lines.txt").write_text("".join(short))
    blocks = ("".join(block) for block in _batched(short, 10))
    (folder / "blocks.txt").write_text("\n".join(blocks))
    (folder / "other.txt").write_text("".join(_lines(words[400_000:500_000], 30)))
    (folder / "stop.txt").write_text("\n".join(sorted(_STOPPED)) + "\n")
    (folder / "keep.txt").write_text("\n".join(sorted(set(words[:3000]) - _STOPPED)[:300]) + "\n")
    (folder / "latin1.txt").write_bytes("café olé naïve piñata\n".encode("latin-1") * 40)
    (folder / "marks.txt").write_text("Don't stop: 3.5 % of Straße, naïve CO₂_x!\n" * 40)
    _write_packed(folder / "texts", short)
    _write_conllu(folder / "sentences.conllu", short[:4000])


def _lines(words: Sequence[str], length: int) -> Iterator[str]:
    return (" ".join(line) + "\n" for line in _batched(words, length))


def _batched(items: Sequence[str], length: int) -> Iterator[Sequence[str]]:
    return (items[start : start + length] for start in range(0, len(items), length))


def _write_packed(folder: Path, lines: list[str]) -> None:
    packers: dict[str, Callable[[bytes], bytes]] = {
        "a.txt": bytes,
        "b.txt.gz": lambda raw: gzip.compress(raw, mtime=0),
        "sub/c.txt.bz2": bz2.compress,
        "sub/d.txt.xz": lzma.compress,
        "sub/e.txt.zst": zstd.compress,
    }
    parts = _batched(lines, len(lines) // len(packers) + 1)
    (folder / "sub").mkdir(parents=True)
    for (name, pack), part in zip(packers.items(), parts, strict=True):
        (folder / name).write_bytes(pack("".join(part).encode()))


def _write_conllu(path: Path, lines: Iterable[str]) -> None:
    with path.open("w") as out:
        for line in lines:
            for k, word in enumerate(line.split(), 1):
                out.write(f"{k}\t{word.title()}\t{word.rstrip('s') or word}" + "\t_" * 7 + "\n")
            out.write("\n")


def _write_speeches(data: Path, folder: Path) -> None:
    with gzip.open(data / "dated" / "un-general-debates-1946-2024.tsv.gz", "rt") as lines:
        speeches = list(itertools.islice(lines, SPEECHES))
    (folder / "speeches.tsv").write_text("".join(speeches))
    few = "year\tsession\tcountry\tspeech\n" + "".join(speeches[:: SPEECHES // FEW_SPEECHES])
    (folder / "few.tsv.gz").write_bytes(gzip.compress(few.encode(), mtime=0))
    groups = []
    with (folder / "speeches.jsonl").open("w") as out:
        for speech in speeches:
            year, _, country, text = speech.rstrip("\n").split("\t")
            one = {"id": f"{country}-{year}", "year": int(year), "text": text}
            out.write(json.dumps(one) + "\n")
            groups.append(f"{country}-{year}\t{country[0]}\n")
    (folder / "groups.tsv").write_text("".join(groups))
    (folder / "moving.txt").write_text("peace\natomic\nspace\nchina\nkorea\nindependence\n")


def _write_firms(data: Path, folder: Path) -> None:
    """Write companies: all with blanks, and those that have all returns under their first words."""
    with (data / "domain" / "sp500-companies.csv").open(newline="") as lines:
        firms = [row for row in csv.DictReader(lines) if row["first_word"]]
    with gzip.open(data / "domain" / "sp500-log-returns.csv.gz", "rt", newline="") as lines:
        header, *days = csv.reader(lines)
    words = {row["ticker"]: row["first_word"] for row in firms}
    tickers = header[1:]
    returns = list(zip(*(day[1:] for day in days[-DAYS:]), strict=True))
    named = [k for k, ticker in enumerate(tickers) if ticker in words]
    _write_rows(folder / "firms.csv", [(tickers[k], returns[k]) for k in named if any(returns[k])])
    map_lines = [f"{tickers[k]}\t{words[tickers[k]]}\n" for k in named]
    (folder / "tickers.tsv").write_text("".join(map_lines))
    whole = [(words[tickers[k]], returns[k]) for k in named if all(returns[k])]
    _write_rows(folder / "entities.csv", list(dict(reversed(whole)).items()))
    names = [name for name, _ in whole]
    numbers = np.array([row for _, row in whole], np.float64)
    np.save(folder / "firms.npy", numbers)
    (folder / "firms.txt").write_text("\n".join(names) + "\n")
    np.savez(folder / "firms.npz", matrix=numbers.astype(np.float32), names=np.array(names))
    sectors = {row["first_word"]: row["gics_sector"] for row in firms}
    classes = [f"{word}\t{sector}\n" for word, sector in sectors.items()]
    (folder / "sectors.tsv").write_text("".join(classes))


def _write_rows(path: Path, rows: Iterable[tuple[str, Iterable[str]]]) -> None:
    with path.open("w", newline="") as out:
        csv.writer(out).writerows([name, *row] for name, row in rows)


def _write_drugs(data: Path, folder: Path) -> None:
    """Write drugs × side effects, 0 or 1, as every other kind of table."""
    import pyarrow
    import pyarrow.parquet
    import scipy.sparse

    drugs = (data / "domain" / "drugs.txt").read_text().splitlines()
    names = [line.split("\t")[3] for line in drugs]
    numbers = np.loadtxt(data / "domain" / "drug-side-effects-746x817.txt.gz")
    scipy.sparse.save_npz(folder / "drugs.npz", scipy.sparse.csr_matrix(numbers))
    (folder / "drugs.txt").write_text("\n".join(names) + "\n")
    rows = zip(names, numbers.astype(int).tolist(), strict=True)
    lines = ["\t".join([name, *map(str, row)]) + "\n" for name, row in rows]
    (folder / "drugs.tsv.gz").write_bytes(gzip.compress("".join(lines).encode(), mtime=0))
    columns = {"drug": names} | {f"effect{k}": numbers[:, k] for k in range(numbers.shape[1])}
    pyarrow.parquet.write_table(pyarrow.table(columns), folder / "drugs.parquet")


def _write_sequences(data: Path, folder: Path) -> None:
    with gzip.open(data / "proteins" / "flip-10507.fasta.gz", "rt") as lines:
        records = lines.read().split(">")[1 : SEQUENCES + 1]
    text = "".join(f">{record}" for record in records)
    (folder / "proteins.fasta.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    shutil.copyfile(data / "proteins" / "T50.txt", folder / "T50.csv")


def _write_sets(data: Path, folder: Path) -> None:
    for name in _SETS:
        shutil.copyfile(data / "similarity" / f"EN-{name}.txt", folder / f"{name}.txt")
    shutil.copyfile(data / "qvec" / "semcor_noun_verb.supersenses.en", folder / "oracle.tsv")
    analogies = ": family\nman king woman queen\nboy girl son daughter\nfather mother he she\n"
    (folder / "analogies.txt").write_text(analogies)
    with (folder / "sentences.tsv").open("w") as out:
        for label in ("plot", "quote"):
            path = data / "classification" / f"subjectivity-{label}.txt.gz"
            with gzip.open(path, "rt", encoding="utf-8", errors="replace") as lines:
                out.writelines(f"{label}\t{line}" for line in itertools.islice(lines, LABELLED))
