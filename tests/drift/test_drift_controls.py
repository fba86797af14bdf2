"""Control words match in document frequency; documents are grouped as requested."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from corpora import assert_one_line
from hypothesis import given
from hypothesis import strategies as st

from wordgeom.core.errors import InputError, MissingInputError
from wordgeom.drift.controls import matched_controls
from wordgeom.drift.groups import group_documents
from wordgeom.matrices.document_term import Document

DOCUMENTS = [Document(1, 1, "a", ""), Document(1, 2, "b", ""), Document(2, 1, "a", "")]


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=12).flatmap(
        lambda sizes: st.tuples(
            st.just(sizes),
            st.lists(st.integers(0, len(sizes) - 1), unique=True, max_size=len(sizes)),
            st.lists(st.booleans(), min_size=len(sizes), max_size=len(sizes)),
        )
    )
)
def test_each_control_is_the_nearest_unused_word(
    drawn: tuple[list[int], list[int], list[bool]],
):
    sizes, chosen, usable = drawn
    found = matched_controls(np.array(chosen, np.int64), np.array(sizes), np.array(usable))
    left = {k for k, use in enumerate(usable) if use} - set(chosen)
    for word, control in zip(chosen, found.tolist(), strict=True):
        if not left:
            assert control == -1
            continue
        assert control in left
        nearest = min(abs(sizes[k] - sizes[word]) for k in left)
        assert abs(sizes[control] - sizes[word]) == nearest
        left.remove(control)


def test_documents_are_grouped_by_file_id_or_table(tmp_path: Path):
    table = tmp_path / "groups.tsv"
    table.write_text("\ufeffa\tx\r\n\nb\ty\na\tx\n", encoding="utf-8")
    assert group_documents(DOCUMENTS, "file").tolist() == [0, 0, 1]
    assert group_documents(DOCUMENTS, "id").tolist() == [0, 1, 0]
    assert group_documents(DOCUMENTS, str(table)).tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a\tx\nb y\n", ["line 2: expected an id, a tab and a group", "1 columns"]),
        (
            "a\tx\nb\ty\na\tz\n",
            ["line 3: document 'a' is in two groups, 'x' and 'z'; remove one"],
        ),
        ("a\tx\n", ["1 of 3 documents have no group, such as document 'b'"]),
    ],
)
def test_an_invalid_table_of_groups_is_rejected(tmp_path: Path, text: str, parts: list[str]):
    table = tmp_path / "groups.tsv"
    table.write_text(text)
    with pytest.raises(InputError) as caught:
        group_documents(DOCUMENTS, str(table))
    assert_one_line(caught, table, *parts)


def test_documents_without_ids_are_not_grouped(tmp_path: Path):
    table = tmp_path / "groups.tsv"
    table.write_text("a\tx\n")
    some = [*DOCUMENTS, Document(2, 2, "", ""), Document(2, 3, "", "")]
    for by in ("id", str(table)):
        with pytest.raises(InputError) as caught:
            group_documents(some, by)
        assert_one_line(caught, "2 of 5 documents have no id", "build-dtm --id-field")
    assert group_documents(some, "file").tolist() == [0, 0, 1, 1, 1]


def test_an_unreadable_table_of_groups_is_rejected(tmp_path: Path):
    with pytest.raises(MissingInputError) as caught:
        group_documents(DOCUMENTS, str(tmp_path / "none.tsv"))
    assert_one_line(caught, "none.tsv", "no such file; pass file, id or a table")
    (tmp_path / "bad.tsv").write_bytes(b"a\t\xff\n")
    with pytest.raises(InputError) as broken:
        group_documents(DOCUMENTS, str(tmp_path / "bad.tsv"))
    assert_one_line(broken, "bad.tsv", "is not UTF-8 at byte 2")
