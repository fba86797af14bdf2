"""Words without a vector in other Unicode forms: their letters in parts, invisible characters."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest

import wordgeom as wg
from wordgeom.vectors.keyed import write_vectors

WORDS = ["étage", "étages", "élève", "élèves", "pré", "prés", "préfet"]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("how", [{}, {"unit": "grapheme"}, {"buckets": 997}])
def test_an_unseen_word_has_one_vector_in_every_form_of_its_letters(tmp_path, form, how):
    words = [unicodedata.normalize(form, word) for word in WORDS]
    draw = np.random.default_rng(1).standard_normal((len(words), 5)).astype(np.float32)
    write_vectors(tmp_path / "v.bin", words, draw)
    model = wg.add_subwords(tmp_path / "v.bin", min_words=1, **how)
    assert model.subwords is not None
    unseen = unicodedata.normalize(form, "préfète")
    expected = model.subwords.vectors_of([unseen])[0]
    assert expected.any()
    np.testing.assert_array_equal(model[unseen], expected)
    if form == "NFC":
        for other in (unicodedata.normalize("NFD", unseen), "pré\u00adfète"):
            np.testing.assert_array_equal(model[other], expected)
