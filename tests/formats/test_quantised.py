"""Quantised files: round trips, equal bytes, and damaged or lying ones, which are one line."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest
from corpora import assert_one_line

from wordgeom.core.errors import FormatError, InputError, MissingInputError
from wordgeom.formats.quantised import is_quantised, quantised_shape, write_quantised
from wordgeom.formats.vector_files import files_of, read_any_vectors, shape_of
from wordgeom.runtime.pool import Pool
from wordgeom.vectors.norms import row_norms
from wordgeom.vectors.quantisation import product_codes, scalar_codes

WORDS = [f"wörd{k}" for k in range(40)]
KINDS = [8, 4, 0]


def codes_of(bits, n=40, d=7):
    points = np.random.default_rng(1).standard_normal((n, d)).astype(np.float32)
    if bits:
        return scalar_codes(points, row_norms(points), bits)
    with Pool(1) as pool:
        return product_codes(points, row_norms(points), 3, 1, pool)


def packed(bits, words=WORDS):
    out = io.BytesIO()
    write_quantised(out, words, codes_of(bits))
    return out.getvalue()


@pytest.fixture
def file(tmp_path):
    return tmp_path / "v.npz"


@pytest.mark.parametrize("bits", KINDS)
def test_what_is_read_is_what_the_codes_stand_for(file, bits):
    file.write_bytes(packed(bits))
    read = read_any_vectors(file)
    assert read.words == WORDS
    np.testing.assert_array_equal(read.matrix, codes_of(bits).decoded())
    assert shape_of(file) == quantised_shape(file) == (40, 7)
    assert files_of(file) == [file]
    assert read_any_vectors(file, limit=3).words == WORDS[:3]
    assert packed(bits) == file.read_bytes()


def test_other_archives_are_not_quantised(file):
    np.savez(file, matrix=np.ones((2, 2)))
    assert not is_quantised(file)
    with pytest.raises(MissingInputError, match=r"v\.words\.txt"):
        read_any_vectors(file)


def changed(bits, **members):
    """The file with other members; None leaves one out."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(packed(bits))) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            key = name.removesuffix(".npy")
            if key not in members:
                new.writestr(name, old.read(name))
            elif members[key] is not None:
                with new.open(name, "w") as member:
                    np.lib.format.write_array(member, members[key], allow_pickle=True)
    return out.getvalue()


def mark(version=1, bits=8, columns=7, exponent=0):
    return np.array([version, bits, columns, exponent])


BAD = [
    (8, {"quantised": mark(version=2)}, "version 2"),
    (8, {"quantised": mark(columns=1 << 40)}, "do not fit"),
    (8, {"quantised": mark(columns=-7)}, "do not fit"),
    (8, {"quantised": mark(bits=5)}, "do not fit"),
    (8, {"quantised": mark(bits=4)}, "do not fit"),
    (8, {"quantised": mark(exponent=1 << 40)}, "do not fit"),
    (8, {"quantised": mark(exponent=300)}, "range of float32"),
    (8, {"quantised": np.ones(4)}, "four integers"),
    (8, {"quantised": np.ones(3, np.int64)}, "four integers"),
    (8, {"codes": np.zeros((40, 8), np.uint8)}, "do not fit"),
    (8, {"codes": np.zeros((0, 7), np.uint8)}, "do not fit"),
    (8, {"codes": np.zeros((39, 7), np.uint8), "norms": np.ones(39, np.float16)}, "39 codes"),
    (8, {"codes": np.asfortranarray(np.zeros((40, 7), np.uint8))}, "do not fit"),
    (8, {"table": np.full(7, np.nan, np.float32)}, "not finite"),
    (8, {"norms": np.full(40, np.inf, np.float16)}, "not finite"),
    (8, {"norms": np.ones(40)}, "do not fit"),
    (0, {"table": np.zeros((3, 255, 3), np.float32)}, "do not fit"),
    (0, {"quantised": mark(bits=0, columns=2)}, "do not fit"),
    (0, {"quantised": mark(bits=0, columns=1 << 50)}, "do not fit"),
    (8, {"words": np.frombuffer(b"a\nb", np.uint8)}, "end within a word"),
    (8, {"words": np.frombuffer(b"a\n" * 40, np.uint8)}, "both 'a'"),
    (8, {"words": np.frombuffer(b"\xff\n" * 40, np.uint8)}, "UTF-8"),
    (8, {"words": np.ones(40)}, "must be bytes"),
    (8, {"codes": np.array([[None]])}, "never unpickled"),
    (8, {"norms": None}, "no member norms"),
    (8, {"words": None}, "no member words"),
]


@pytest.mark.parametrize(("bits", "members", "say"), BAD)
def test_members_that_do_not_fit_are_one_line(file, bits, members, say):
    file.write_bytes(changed(bits, **members))
    with pytest.raises((FormatError, InputError)) as caught:
        read_any_vectors(file)
    assert_one_line(caught, "v.npz", say)


@pytest.mark.parametrize("bits", KINDS)
def test_a_cut_file_is_one_line_wherever_it_ends(file, bits):
    whole = packed(bits)
    for end in range(0, len(whole), 7):
        file.write_bytes(whole[:end])
        with pytest.raises((FormatError, InputError)) as caught:
            read_any_vectors(file)
        assert_one_line(caught, "v")


def test_flipped_bytes_are_noticed(file):
    whole = packed(8)
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        start = archive.getinfo("codes.npy").header_offset + 60
    for at in range(start, start + 150, 10):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        with pytest.raises((FormatError, InputError)):  # zip keeps a checksum of each member
            read_any_vectors(file)


def test_vectors_beyond_the_memory_are_rejected_before_they_are_decoded(file):
    file.write_bytes(packed(8))
    with pytest.raises(InputError, match="memory limit"):
        read_any_vectors(file, memory=1000)
