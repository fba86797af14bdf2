"""Vectors of texts whose words have n-grams alone: `embed` and TextVectorizer."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import wordgeom as wg
from wordgeom.corpus.tokens import lexicon, spill
from wordgeom.texts.options import EmbedOptions
from wordgeom.vectors.keyed import write_vectors

LINES = [
    "walk turning zq",
    "turning turning talked",
    "zq qx",
    "walkings talk",
    "jumps helper opened",
]
OTHERS = ["walk playings", "turning worked"]
NOTE = "2 words have no vector, their n-grams give one each: turning, walkings"
WEIGHTINGS = (
    {"weights": "mean"}, {"weights": "tf-idf"}, {"weights": "sif", "remove_components": 0},
    {"weights": "mean", "unit_words": True}, {"weights": "mean", "all_but_the_top": 2},
)  # fmt: skip


@pytest.fixture
def closed(improved):
    """The vectors of v.bin and, as words of their own, those of words that it lacks."""
    Path("texts.txt").write_text("\n".join(LINES) + "\n")
    Path("others.txt").write_text("\n".join(OTHERS) + "\n")
    model, words = wg.open_vectors("v.bin"), ["turning", "walkings"]
    more = np.concatenate((improved.matrix, [model[word] for word in words]))
    write_vectors("closed.bin", [*improved.words, *words], more.astype(np.float32))


def test_texts_with_unseen_words_have_the_vectors_of_a_larger_vocabulary(closed, ask):
    for options in ([], ["--weights", "mean"], ["--weights", "tf-idf"], ["--unit-words"]):
        made = ask("embed", "texts.txt", "--vectors", "v.bin", "-o", "v.npy", "--force", *options)
        assert made.status == 0, made.err
        assert NOTE in made.err
        assert ask("embed", "texts.txt", "--vectors", "closed.bin", "-o", "c.npy", "--force",
                   *options).status == 0  # fmt: skip
        np.testing.assert_allclose(np.load("v.npy"), np.load("c.npy"), atol=1e-5)
    assert (Path("v.documents.tsv").read_text().replace("v.", "c.")
            == Path("c.documents.tsv").read_text().replace("v.", "c."))  # fmt: skip
    facts = json.loads(Path("v.npy.json").read_text())["statistics"]
    assert {name: facts[name] for name in ("ngram_words", "ngram_tokens", "empty")} == {
        "ngram_words": 2, "ngram_tokens": 4, "empty": 1,
    }  # fmt: skip


def test_the_output_belongs_to_the_ngrams(closed, ask):
    asked = ["embed", "texts.txt", "--vectors", "v.bin", "-o", "v.npy"]
    assert ask(*asked).status == 0
    assert "up to date" in ask(*asked).out
    Path("v.subwords").rename("gone.subwords")
    again = ask(*asked)
    assert again.status == 1
    assert "v.npy: exists" in again.err
    made = ask(*asked, "--force").err
    assert "v.subwords: these vectors were made with n-grams, which are missing" in made
    assert "their n-grams give one each" not in made


def test_threads_and_spilled_words_do_not_change_a_byte(closed, ask, monkeypatch):
    asked = ["embed", "texts.txt", "--vectors", "v.bin", "-o"]
    lines = ask(*asked, "-", "--threads", "2").out
    assert ask(*asked, "whole.txt", "--threads", "1").status == 0
    assert Path("whole.txt").read_text() == lines
    monkeypatch.setattr(lexicon, "_INITIAL_TYPES", 2)  # the text is spilled
    monkeypatch.setattr(spill, "_MOST", 1)
    assert ask(*asked, "spilled.txt").status == 0
    assert Path("spilled.txt").read_text() == lines


@pytest.mark.parametrize("options", WEIGHTINGS)
def test_the_vectorizer_gives_later_texts_their_unseen_words(closed, options):
    """The words that are asked for are absent from the texts that were fitted."""
    fitted = LINES[2:]
    ours = wg.TextVectorizer("v.bin", **options).fit(fitted)
    assert any("its n-grams give one: walkings" in note for note in ours.notes_)
    made = pickle.loads(pickle.dumps(ours)).transform(OTHERS)
    model = wg.open_vectors("v.bin")
    words = [word for text in OTHERS for word in text.split()]
    vectors = np.array([model[word] for word in words], float)
    asked = EmbedOptions.asked(options)
    if asked.all_but_the_top:
        centred = model.vectors - model.vectors.mean(axis=0, dtype=float)
        top = np.linalg.svd(centred, full_matrices=False)[2][: asked.all_but_the_top]
        vectors = vectors - model.vectors.mean(axis=0, dtype=float)
        vectors = vectors - vectors @ top.T @ top
    if asked.unit_words:
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    expected = vectors.reshape(2, 2, -1).mean(axis=1)  # all four are absent: equal weights
    np.testing.assert_allclose(made, expected, atol=1e-4)


def test_a_model_in_memory_gives_texts_its_ngrams(closed):
    model = wg.add_subwords("vectors.bin", subwords="2-5")
    made = wg.TextVectorizer(model, weights="mean").fit_transform(["turning"])
    np.testing.assert_allclose(made[0], model["turning"], atol=1e-6)
