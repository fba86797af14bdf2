"""N-grams of files: those of fastText's models, and those that convert carries along."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import wordgeom as wg
from wordgeom.formats.vector_files import ngram_digests, read_open_vectors
from wordgeom.storage.store import Store
from wordgeom.vectors.keyed import read_vectors, write_vectors

NOTE = "1 word has no vector, its n-grams give one: turning"


@pytest.fixture
def fasttext(words, ask):
    """The model of v.bin as fastText's ft.bin, without a store beside it."""
    how = ["--subwords", "2-5", "--buckets", "5000"]
    assert ask("subwords", "vectors.bin", "-o", "v.bin", *how).status == 0
    assert ask("convert", "v.bin", "ft.bin", "--to", "fasttext").status == 0
    assert not Path("ft.subwords").exists()


def test_a_fasttext_model_answers_as_the_vectors_it_was_made_of(fasttext, ask):
    asked = ["turning", "--top", "5"]
    found = [ask("similar", name, *asked) for name in ("ft.bin", "v.bin")]
    assert found[0].out == found[1].out
    assert NOTE in found[0].err
    found = [ask("analogy", name, "walking", "walk", "turning") for name in ("ft.bin", "v.bin")]
    assert found[0].out.split()[0] == "turn"
    assert NOTE in found[0].err
    reports = [json.loads(ask("eval", name, "pairs.tsv", "--json").out)["scores"]
               for name in ("ft.bin", "v.bin")]  # fmt: skip
    assert {each["set"] for each in reports[0]} == {"pairs", "pairs, unseen words", "pairs, all"}
    for ours, theirs in zip(*reports, strict=True):
        assert ours["used"] == theirs["used"]
        assert ours["score"] == pytest.approx(theirs["score"], abs=1e-3)
    Path("list.txt").write_text("turning\nwalk\n")
    for name in ("ft", "v"):
        made = ask("convert", f"{name}.bin", f"{name}.some.txt", "--only", "list.txt")
        assert NOTE in made.err
    some = [read_vectors(f"{name}.some.txt") for name in ("ft", "v")]
    np.testing.assert_allclose(some[0].matrix, some[1].matrix, atol=1e-5)
    model = wg.open_vectors("ft.bin")
    np.testing.assert_allclose(model["turning"], wg.open_vectors("v.bin")["turning"], atol=1e-5)


def test_python_scores_a_model_with_its_ngrams(improved):
    model = wg.open_vectors("v.bin")
    made, plain = (wg.score(each, ["pairs.tsv"]) for each in (model, model.keyed_vectors()))
    assert {each.name for each in made.scores} == {"pairs", "pairs, unseen words", "pairs, all"}
    assert {each.name for each in plain.scores} == {"pairs"}


def test_the_state_of_eval_belongs_to_the_ngrams_of_a_fasttext_model(fasttext):
    before = ngram_digests(Path("ft.bin"))
    raw = bytearray(Path("ft.bin").read_bytes())
    raw[-4 * 30 * 49 - 20] ^= 1  # in the last bucket
    Path("ft.bin").write_bytes(raw)
    assert ngram_digests(Path("ft.bin")) != before
    assert ngram_digests(Path("vectors.bin")) == []


@pytest.mark.parametrize(
    ("target", "how"),
    [("w.bin", []), ("w.txt.gz", []), ("w.npy", []), ("w.bin", ["--limit", "20"])],
)
def test_converted_vectors_have_the_same_ngrams(improved, ask, target, how):
    made = ask("convert", "v.bin", target, *how)
    assert made.status == 0, made.err
    before, after = (read_open_vectors(Path(name)).model for name in ("v.bin", target))
    assert before is not None
    assert after is not None
    asked = ["turning", "walkings", "zq"]
    np.testing.assert_array_equal(after.vectors_of(asked), before.vectors_of(asked))
    assert f"{target}: up to date" in ask("convert", "v.bin", target, *how).out
    shutil.rmtree("w.subwords")
    again = ask("convert", "v.bin", target, *how)
    assert again.status == 1
    assert "--force" in again.err
    assert ask("convert", "v.bin", target, *how, "--force").status == 0
    assert read_open_vectors(Path(target)).model is not None


def test_a_conversion_without_ngrams_says_so(improved, ask):
    Path("list.txt").write_text("walk\ntalk\n")
    for how in (["--only", "list.txt"], ["--float16"]):
        made = ask("convert", "v.bin", "w.npy", *how, "--force")
        lost = f"the n-grams of v.bin are not written beside w.npy ({how[0]})"
        assert f"{lost}; convert without {how[0]} to keep them" in made.err
        assert not Path("w.subwords").exists()
    made = ask("convert", "v.bin", "w.vec", "--limit", "9", "--only", "list.txt")
    assert "convert without --only" in made.err
    assert "n-grams" not in ask("convert", "vectors.bin", "plain.txt", "--only", "list.txt").err


def test_files_of_one_stem_share_a_model_only_if_it_belongs_to_both(improved, ask):
    """`v.txt` would be read with v.subwords, which is that of `v.bin`."""
    before = Store.open("v.subwords").digest
    for target, how in (("v.txt", ["--limit", "9"]), ("v.npz", ["--float16"])):
        made = ask("convert", "v.bin", target, *how, "--force")
        assert made.status == 2
        assert "v.subwords: has the n-grams of v.bin alone" in made.err
        assert not Path(target).exists()
    assert ask("convert", "v.bin", "v.txt").status == 0
    assert Store.open("v.subwords").digest == before
    assert ask("similar", "v.txt", "turning", "--top", "3").status == 0


def test_vectors_without_a_run_card_are_converted_again(fasttext, ask):
    """fastText's models and saved ones have none; a second format shares the n-grams."""
    wg.open_vectors("v.bin").save("saved.bin")
    for source, name in (("ft.bin", "g"), ("saved.bin", "h")):
        for target in (f"{name}.bin", f"{name}.vec"):
            assert ask("convert", source, target).status == 0
            again = ask("convert", source, target)
            assert f"{target}: up to date" in again.out
        assert NOTE in ask("similar", f"{name}.vec", "turning").err
    other = ask("convert", "v.bin", "saved.vec")
    assert other.status == 1
    assert "saved.subwords: exists and has no run card; pass --force" in other.err
    assert ask("convert", "v.bin", "saved.vec", "--force").status == 0


def test_no_command_replaces_the_model_that_it_reads(improved, ask):
    """`v.txt` would take v.subwords from `v.bin`."""
    before = Store.open("v.subwords").digest
    Path("d.csv").write_text("walk,1,2\ntalk,2,1\nzq,2,2\n")
    impute = ["impute", "--domain", "d.csv", "--vectors", "v.bin", "--delta", "1"]
    for command in (["subwords", "v.bin"], impute):
        made = ask(*command, "-o", "v.txt", "--force")
        assert made.status == 2
        assert "v.subwords" in made.err
        assert not Path("v.txt").exists()
    assert Store.open("v.subwords").digest == before


def test_a_stale_model_is_not_carried_along(improved, ask):
    write_vectors("v.bin", improved.words, 2 * improved.matrix)
    made = ask("convert", "v.bin", "w.bin")
    assert made.status == 1
    assert "v.subwords: belongs to other vectors" in made.err
    assert not Path("w.bin").exists()


def test_fasttext_models_are_not_written_under_another_suffix(fasttext, ask):
    for target in ("model.vec", "model.txt", "model.npz", "model.bin.gz"):
        made = ask("convert", "v.bin", target, "--to", "fasttext")
        assert made.status == 2
        assert f"{target}: fastText's models are binary, not {Path(target).suffix}" in made.err
        assert "name a .bin file" in made.err
        assert not Path(target).exists()
