"""`import wordgeom as wg`: the same results as the command line, and nothing left behind."""

from __future__ import annotations

import ast
import copy
import gc
import importlib
import inspect
import json
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from corpora import assert_one_line

import wordgeom as wg
from wordgeom.api.vectors import Model
from wordgeom.cli import main
from wordgeom.core.errors import (
    InputError,
    MissingInputError,
    OptionError,
    OutputExistsError,
    RankError,
)
from wordgeom.vectors.keyed import Vectors

K = 6


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A text of 40 words, in a folder where scratch folders can be seen."""
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    ids = np.random.default_rng(6).zipf(1.4, (100, 30)) % 40
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(" ".join(f"word{k}" for k in line) for line in ids))
    return path


@pytest.fixture
def scratch(corpus: Path) -> Path:
    return corpus.parent / "scratch"


def test_text_becomes_vectors_without_a_file(corpus, scratch):
    with wg.count(corpus, min_count=2) as counts:
        assert counts.words == counts.words[:1] + counts.words[1:]
        assert len(counts.words) == len(counts.frequencies) == counts.to_scipy().shape[0]
        assert counts.summary
        model = wg.train(counts, "gbu", dim=K)
    assert model.vectors.shape == (len(model.words), K)
    assert model.vectors.dtype == np.float32
    assert model.statistics["effective_rank"] <= K
    assert list(scratch.iterdir()) == []


def test_a_temporary_folder_goes_with_its_handle(corpus, scratch):
    counts = wg.count(corpus, min_count=2)
    assert counts.path.exists()
    counts.close()
    counts.close()
    assert list(scratch.iterdir()) == []
    counts = wg.count(corpus, min_count=2)
    with wg.pmi(counts) as weighted:
        assert len(list(scratch.iterdir())) == 2
        del counts
        gc.collect()
        assert list(scratch.iterdir()) == [weighted.path.parent]
    assert list(scratch.iterdir()) == []


def test_a_failure_leaves_no_temporary_folder(corpus, scratch):
    with pytest.raises(MissingInputError) as caught:
        wg.count(corpus.parent / "nowhere.txt")
    assert_one_line(caught, "nowhere.txt: no such file")
    with pytest.raises(MissingInputError):
        wg.pmi(corpus.parent / "nowhere")
    assert list(scratch.iterdir()) == []


def test_out_keeps_the_bytes_that_the_command_line_makes(corpus, scratch):
    here = corpus.parent
    counts = wg.count(corpus, out=here / "cooc", min_count=2, window=3, save_vocab=here / "v.tsv")
    weighted = wg.pmi(counts, out=here / "pmi", neg=2.0)
    wg.train(weighted, "gbu", dim=K, out=here / "vectors.bin")
    wg.train(counts, "gbu", dim=K, weighting="pmi", out=here / "flat.txt")
    count = ["build-cooc", str(corpus), "--min-count", "2", "--window", "3", "--quiet"]
    train = ["train", "--method", "gbu", "--dim", str(K), "--quiet"]
    other = here / "cli"
    other.mkdir()
    assert main([*count, "-o", f"{other}/cooc", "--save-vocab", f"{other}/v.tsv"]) == 0
    assert main(["build-pmi", f"{other}/cooc", "--neg", "2", "-o", f"{other}/pmi", "--quiet"]) == 0
    assert main([*train, f"{other}/pmi", "-o", f"{other}/vectors.bin"]) == 0
    assert main([*train, f"{other}/cooc", "--weighting", "pmi", "-o", f"{other}/flat.txt"]) == 0
    assert wg.open_matrix(other / "cooc").digest == counts.digest
    assert wg.open_matrix(other / "pmi").digest == weighted.digest
    for name in ("v.tsv", "vectors.bin", "flat.txt"):
        assert (other / name).read_bytes() == (here / name).read_bytes()
    assert isinstance(wg.open_matrix(here / "cooc"), wg.Counts)
    assert isinstance(wg.open_matrix(here / "pmi"), wg.Weighted)
    counts.close()
    assert (here / "cooc" / "meta.json").exists()
    assert list(scratch.iterdir()) == []


def same(a: Model, b: Model) -> bool:
    return a.words == b.words and np.array_equal(a.vectors, b.vectors) and a.notes == b.notes


def test_output_that_is_up_to_date_is_read_and_other_output_refused(corpus):
    out = corpus.parent / "vectors.bin"
    with wg.count(corpus, min_count=2) as counts:
        first = wg.train(counts, "gbu", dim=K, out=out)
        stamp = out.stat().st_mtime_ns
        again = wg.train(counts, "gbu", dim=K, out=out)
        assert out.stat().st_mtime_ns == stamp
        assert same(first, again)
        assert first.statistics == again.statistics
        assert same(first, wg.train(counts, "gbu", dim=K))
        with pytest.raises(OutputExistsError) as caught:
            wg.train(counts, "gbu", dim=K + 1, out=out)
        assert_one_line(caught, out, f"dim={K}, not {K + 1}")
        assert wg.train(counts, "gbu", dim=K + 1, out=out, force=True).vectors.shape[1] == K + 1


def test_white_space_in_words_is_replaced_in_the_model_as_in_its_file(corpus):
    corpus.write_text("new\u00a0york big city\n" * 9)
    out = corpus.parent / "vectors.bin"
    with wg.count(corpus, tokeniser="whitespace") as counts:
        assert "new\u00a0york" in wg.train(counts, "gbu", dim=2).words
        for _ in range(2):  # made, and read back
            model = wg.train(counts, "gbu", dim=2, out=out, space="_")
            assert model.words == wg.load_vectors(out).index_to_key
            assert "new_york" in model.words


def test_a_handle_outlives_a_change_of_the_directory_and_its_copies(corpus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    counts, held = wg.count(corpus, out="cooc"), wg.count(corpus)
    shape = counts.to_scipy().shape
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert counts.to_scipy().shape == shape
    assert wg.train(counts, "pmi-eigs", dim=2).vectors.shape == (shape[0], 2)
    copied = copy.deepcopy(held)  # as scikit-learn's clone does
    del held
    gc.collect()
    assert copied.to_scipy().shape == shape


@pytest.mark.parametrize(
    ("function", "given"),
    [("convert", (wg.Model, "x.txt")), ("convert", ("x.bin", 3)), ("measure_drift", (3,)),
     ("open_model", (3,)), ("open_matrix", (None,)), ("load_vectors", ({},)),
     ("score", ("x.bin", [3]))],
)  # fmt: skip
def test_what_is_no_name_of_a_file_is_named(function, given):
    with pytest.raises(OptionError, match="expected the name of a file, found "):
        getattr(wg, function)(*given)


def test_a_model_is_saved_under_a_name_only():
    model = wg.Model(Vectors(["a"], np.ones((1, 2), np.float32)), [], {})
    with pytest.raises(OptionError, match="expected the name of a file, found int"):
        model.save(3)  # type: ignore[arg-type]


def test_a_matrix_in_memory_is_converted(corpus, tmp_path):
    wg.convert(wg.count(corpus), tmp_path / "counts.npz")
    assert (tmp_path / "counts.npz").exists()


def test_load_vectors_gives_gensims_vectors(corpus):
    out = corpus.parent / "vectors.bin"
    with wg.count(corpus, min_count=2) as counts:
        model = wg.train(counts, "gbu", dim=K)
    model.save(out)
    model.save(corpus.parent / "vectors.txt")
    wg.convert(out, corpus.parent / "vectors.npy")
    wg.convert(out, corpus.parent / "projector", target_format="projector")
    others = [wg.load_vectors(corpus.parent / name) for name in ("vectors.npy", "projector")]
    for keyed in (wg.load_vectors(out), wg.load_vectors(corpus.parent / "vectors.txt"), *others):
        assert type(keyed).__name__ == "KeyedVectors"
        assert keyed.index_to_key == model.words
        assert np.array_equal(keyed.vectors, model.vectors)
    assert wg.load_vectors(out, limit=2).index_to_key == model.words[:2]
    assert model.keyed_vectors().most_similar("word1", topn=1)[0][0] in model.words


def test_a_model_is_asked_for_words_as_gensims_vectors_are():
    matrix = np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32)
    model = wg.Model(Vectors(["a", "b", "caf\u00e9", "d", "e"], matrix), [], {})
    keyed = model.keyed_vectors()
    assert len(model) == 5
    assert list(model) == keyed.index_to_key
    assert "cafe\u0301" in model
    assert "x" not in model
    assert 0 not in model
    np.testing.assert_array_equal(model["cafe\u0301"], matrix[2])
    found, expected = model.most_similar("a", topn=3), keyed.most_similar("a", topn=3)
    assert [word for word, _ in found] == [word for word, _ in expected]
    assert [word for word, _ in model.most_similar(["a", "b"], "d", topn=1)] == [
        keyed.most_similar(["a", "b"], ["d"], topn=1)[0][0]
    ]
    for ask in (model.__getitem__, model.most_similar):
        with pytest.raises(InputError, match="unknown word 'cafe'; did you mean caf\u00e9"):
            ask("cafe")
    with pytest.raises(InputError, match="a word must be text, found 0"):
        model[0]  # type: ignore[index]
    with pytest.raises(OptionError, match="topn must be at least 1, found 0"):
        model.most_similar("a", topn=0)


@pytest.mark.parametrize(
    ("function", "options", "say"),
    [
        ("count", {"windw": 3}, "wordgeom.count: unknown keyword 'windw'; did you mean window?"),
        ("count", {"dim": 3}, "wordgeom.count: unknown keyword 'dim'"),
        ("count", {"window": 2.5}, "window must be an integer, found 2.5"),
        ("count", {"min_count": 0}, "min_count must be at least 1, found 0"),
        ("count", {"shard": 5}, "shard must be i/N, such as 1/8, found '5'"),
        ("pmi", {"ned": 2}, "wordgeom.pmi: unknown keyword 'ned'; did you mean neg?"),
        ("train", {"dimm": 2}, "wordgeom.train: unknown keyword 'dimm'; did you mean dim?"),
        (
            "train",
            {"dim": "2"},
            "an integer, auto, auto:parallel, auto:eigengap or auto:pip, found '2'",
        ),
        ("train", {"as_published": "yes"}, "as_published must be true or false, found 'yes'"),
    ],
)
def test_an_option_that_is_wrong_is_named(corpus, function, options, say):
    positional = ["gbu"] if function == "train" else []
    with pytest.raises(OptionError) as caught:
        getattr(wg, function)(corpus, *positional, **options)
    assert_one_line(caught, say)


def test_other_mistakes_are_named(corpus):
    with pytest.raises(OptionError, match="did you mean gbu"):
        wg.train(corpus, "gub")
    with pytest.raises(OptionError, match="needs a text file or a text"):
        wg.count([])
    with pytest.raises(OptionError, match="not a matrix or the name of one, found list"):
        wg.train([["a", "b"]], "gbu")  # type: ignore[arg-type]
    with wg.count(corpus, min_count=2) as counts, pytest.raises(RankError, match="lower dim="):
        wg.train(counts, "gbu", dim=1000)
    with pytest.raises(AttributeError, match="cuont"):
        wg.cuont  # noqa: B018


def test_the_public_functions_are_no_modules(corpus):
    with wg.count(corpus, min_count=2) as counts:
        wg.train(counts, "pmi-eigs", dim=K)
    importlib.import_module("wordgeom.evaluation.sets")
    for name in wg.__all__:
        assert callable(getattr(wg, name)), name
        assert find_spec(f"wordgeom.{name}") is None, name


def test_results_and_errors_are_of_public_classes(corpus):
    with wg.count(corpus, min_count=2) as counts:
        assert isinstance(wg.train(counts, "pmi-eigs", dim=K), wg.Model)
        with pytest.raises(wg.WordgeomError):
            wg.train(counts, "gbu", dim=1000)
    assert issubclass(wg.ImputedModel, wg.Model)


def test_the_functions_do_not_wait_for_numba_before_they_are_called():
    look = "import sys, wordgeom as wg; wg.train, wg.impute, wg.convert, wg.score; "
    look += "print(*{'numba', 'scipy', 'gensim'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_scores_are_those_of_the_command_line(corpus, tmp_path, capsys):
    pairs = tmp_path / "pairs.txt"
    pairs.write_text("word0 word1 3\nword2 word3 1\nword4 word1 2\nword0 word5 2.5\n")
    with wg.count(corpus, min_count=2) as counts:
        model = wg.train(counts, "gbu", dim=K, out=tmp_path / "v.bin")
    told = wg.score(model, [pairs], resamples=50)
    assert main(["eval", str(tmp_path / "v.bin"), str(pairs), "--resamples", "50", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert told.to_dict()["scores"] == printed["scores"]
    for same in (tmp_path / "v.bin", model.keyed_vectors()):
        assert wg.score(same, pairs, resamples=50).scores == told.scores
    with pytest.raises(OptionError, match="vectors must be a file name, a Model or gensim's"):
        wg.score(model.vectors, pairs)
    with pytest.raises(OptionError, match="unknown keyword"):
        wg.score(model, [pairs], resample=50)


def test_columns_may_be_given_as_integers(tmp_path, scratch):
    path = tmp_path / "t.tsv"
    path.write_text("1990\ta b a\n1991\tb c a\n")
    by_number = wg.count_documents(path, text_field=2, time_field=1, min_count=1)
    by_text = wg.count_documents(path, text_field="2", time_field="1", min_count=1)
    assert (by_number.digest, by_number.words) == (by_text.digest, ["a", "b", "c"])
    by_number.close()
    by_text.close()


def test_type_checkers_and_the_documentation_see_every_public_name() -> None:
    tree = ast.parse(Path(wg.__file__).read_text(encoding="utf-8"))
    seen = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
            for alias in node.names}  # fmt: skip
    assert set(wg.__all__) <= seen


def test_signature_of_train_shows_no_default_that_depends_on_the_method() -> None:
    shown = inspect.signature(wg.train).parameters
    assert repr(shown["neg"].default) == "<depends on the method>"  # dc: 0.2, others: 1
    assert shown["weight"].default is shown["neg"].default  # dlsa: rows, lsa: log
    assert shown["dim"].default is shown["neg"].default  # tsm: 32, others: 100
    assert shown["cds"].default is shown["neg"].default  # gbu: 0.75, others: 1
    assert shown["mix"].default == 0.2


def test_swapped_letters_of_an_option_suggest_the_option() -> None:
    with pytest.raises(OptionError, match="did you mean dim"):
        wg.train("cooc", "gbu", dmi=3)
