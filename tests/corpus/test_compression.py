"""Compressed files: recognised by content, decompressed exactly, rejected when broken."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest
from corpora import assert_one_line, put
from hypothesis import given
from hypothesis import strategies as st

from wordgeom.core.errors import FormatError, InputError, MissingInputError, WordgeomError
from wordgeom.corpus.inputs import compression, readers
from wordgeom.corpus.inputs.compression import zstd
from wordgeom.corpus.inputs.input_warnings import input_warnings
from wordgeom.corpus.inputs.readers import Source, is_compressed, read_blocks

PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lambda content: lzma.compress(content, preset=0),
    "zstd": zstd.compress,
}
kinds = pytest.mark.parametrize("kind", PACK)
SKIPPED = b"\x53\x2a\x4d\x18\x04\0\0\0abcd"  # a skippable zstd frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("packed")


def text(path: Path | str) -> bytes:
    return b"".join(block.text for block in read_blocks(Source(str(path)), b" \n", "error"))


@given(
    st.sampled_from(sorted(PACK)),
    st.lists(st.binary(max_size=60).map(lambda b: b.hex().encode() + b" "), min_size=1),
    st.booleans(),
    st.sampled_from([64, 1 << 21]),
)
def test_concatenated_streams_read_as_their_joined_contents(
    folder: Path, kind: str, parts: list[bytes], padded: bool, block: int
):
    raw = b"".join(PACK[kind](part) + bytes(8 * padded) for part in parts)
    (path,) = put(folder, raw)
    source = Source(str(path))
    with patch.object(readers, "BLOCK", block):
        read = list(read_blocks(source, b" \n", "error"))
    assert b"".join(b.text for b in read) == b"".join(parts)
    assert [b.last for b in read] == [False] * (len(read) - 1) + [True]
    assert (source.bytes, source.digest) == (len(raw), hashlib.sha256(raw).hexdigest())


@kinds
def test_the_content_decides_not_the_name(folder: Path, kind: str):
    raw = PACK[kind](b"a b c")
    assert compression.detect(raw) == compression.detect(raw[: compression.HEAD_BYTES]) == kind
    (path,) = put(folder, raw)
    assert (is_compressed(str(path)), text(path)) == (True, b"a b c")
    plain = folder / "plain.gz"
    plain.write_bytes(b"BZh9 is how bzip2 begins")
    assert (is_compressed(str(plain)), text(plain)) == (False, plain.read_bytes())


@kinds
def test_empty_streams_are_empty(folder: Path, kind: str):
    empty, among = put(folder, PACK[kind](b""), PACK[kind](b"") + PACK[kind](b"a") * 2)
    assert (text(empty), text(among)) == (b"", b"aa")


def test_skippable_zstd_frames_are_skipped(folder: Path):
    (path,) = put(folder, SKIPPED + zstd.compress(b"a ") + SKIPPED + zstd.compress(b"b"))
    assert text(path) == b"a b"


@kinds
def test_standard_input_is_decompressed(kind: str, monkeypatch: pytest.MonkeyPatch):
    stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(PACK[kind](b"a b\nc"))))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert text("-") == b"a b\nc"
    assert not stdin.buffer.closed


@kinds
def test_a_truncated_file_is_rejected(folder: Path, kind: str):
    whole = PACK[kind](b"".join(b"%d " % (k * k) for k in range(99)))
    for length in range(compression.HEAD_BYTES, len(whole), 11):
        (path,) = put(folder, whole[:length])
        with pytest.raises(FormatError) as caught:
            text(path)
        assert_one_line(caught, path, f"broken {kind} file: ", f"; check it with {kind}"[:16])


@kinds
def test_other_data_after_the_end_is_rejected(folder: Path, kind: str):
    other = PACK["zstd" if kind == "xz" else "xz"](b"b")
    for after in (b"junk", b"\0\0\0x", other):
        (path,) = put(folder, PACK[kind](b"a" * 99) + after)
        with pytest.raises(FormatError) as caught:
            text(path)
        assert_one_line(
            caught, path, f"broken {kind} file: other data after its end", "fetch it again"
        )


@given(st.sampled_from(sorted(PACK)), st.integers(10, 150), st.integers(0, 255))
def test_a_corrupted_file_is_rejected_or_reads_unchanged(
    folder: Path, kind: str, place: int, byte: int
):
    content = b"".join(b"%d " % (k * k) for k in range(99))
    raw = bytearray(PACK[kind](content))
    raw[place % len(raw)] = byte
    (path,) = put(folder, bytes(raw))
    try:
        read = text(path)
    except WordgeomError:
        with pytest.raises((FormatError, InputError)) as caught:
            text(path)
        assert_one_line(caught, path)
        return
    # zstd.compress writes no checksum, and a header's flags and names bear no content.
    assert kind == "zstd" or read == content


def test_a_header_that_requests_too_much_memory_is_rejected(folder: Path):
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 28, "mode": lzma.MODE_FAST}]
    packer = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: 28})
    # An xz encoder allocates its dictionary, so the header of a small file is rewritten.
    for raw in (_lying_xz(filters), packer.compress(b"a b") + packer.flush()):
        (path,) = put(folder, raw)
        with pytest.raises(InputError) as caught:
            text(path)
        assert_one_line(caught, path, "needs more than 128 MiB of memory to decompress; decompress")


def _lying_xz(filters: list[dict[str, int]]) -> bytes:
    """An xz file whose header claims a dictionary of 1.5 GiB."""
    import zlib

    small = [{**filters[0], "dict_size": 1 << 16}]
    raw = bytearray(lzma.compress(b"a b " * 99, filters=small))
    size = 4 * (raw[12] + 1)
    at = raw.index(b"\x21\x01", 12) + 2  # the filter's number, the length of its properties
    raw[at] = 37
    raw[12 + size - 4 : 12 + size] = zlib.crc32(raw[12 : 12 + size - 4]).to_bytes(4, "little")
    return bytes(raw)


@pytest.mark.parametrize(("kind", "size"), [("gzip", 1 << 25), ("xz", 1 << 25), ("zstd", 1 << 26)])
def test_highly_compressed_text_is_read_in_little_memory(folder: Path, kind: str, size: int):
    (path,) = put(folder, PACK[kind](b"a " * (size // 2)))
    tracemalloc.start()
    length = sum(len(block.text) for block in read_blocks(Source(str(path)), b" \n", "error"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert length == size
    assert peak < 1 << 25


def test_a_read_error_names_the_file(folder: Path):
    (path,) = put(folder, b"a")

    class Broken(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            self.reads = getattr(self, "reads", 0) + 1
            if self.reads > 1:
                raise OSError(5, "x")
            return gzip.compress(b"a" * 99)[:size]

    with (
        patch.object(readers, "open_input", lambda name: Broken()),
        pytest.raises(MissingInputError) as caught,
    ):
        text(path)
    assert_one_line(caught, path, "cannot be read: input/output error")


def test_a_suffix_of_a_compression_that_is_absent_is_noted(folder):
    contents = {"plain.gz": b"a b\n", "p.txt.XZ": b"c\n", "packed.gz": gzip.compress(b"d\n")}
    sources = [Source(str(folder / name)) for name in [*contents, "empty.gz"]]
    for source, content in zip(sources, [*contents.values(), b""], strict=True):
        Path(source.name).write_bytes(content)
        read = b"".join(block.text for block in read_blocks(source, b"\n", "error"))
        assert read == (b"d\n" if source.name.endswith("packed.gz") else content)
    (note,) = [line for line in input_warnings(sources) if "suffix" in line]
    assert note.startswith(f"{folder / 'plain.gz'} is not compressed, in spite of its suffix, and")
    assert "1 " in note.removeprefix(str(folder))  # other file
