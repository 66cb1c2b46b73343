"""MATLAB files vs. SciPy's reader, and files that crash that reader."""

import io
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy.io import loadmat, savemat

from kalos_core import InputError
from kalos_core.readers.matlab import read_variable

arrays = npst.arrays(
    st.sampled_from([np.uint8, np.int8, np.uint16, np.int32, np.uint32, np.int64, np.float32, np.float64, np.bool_]),
    npst.array_shapes(min_dims=2, max_dims=3, min_side=0, max_side=5),
    elements={"allow_nan": False},
)


def in_cells(values):
    cells = np.empty((1, len(values)), object)
    for number, value in enumerate(values):
        cells[0, number] = value
    return cells


def saved(variables, packed=False):
    file = io.BytesIO()
    savemat(file, variables, do_compression=packed)
    return file.getvalue()


def same(ours, theirs):
    if isinstance(ours, list) and theirs.dtype.names:
        assert [sorted(element) for element in ours] == [sorted(theirs.dtype.names)] * theirs.size
        for element, other in zip(ours, theirs.ravel(order="F"), strict=True):
            for field, value in element.items():
                same(value, other[field])
    elif isinstance(ours, list):
        assert theirs.dtype == object
        for value, other in zip(ours, theirs.ravel(order="F"), strict=True):
            same(value, other)
    else:
        np.testing.assert_array_equal(ours, theirs)
        assert ours.dtype.kind == ("u" if theirs.dtype.kind == "b" else theirs.dtype.kind)


@settings(max_examples=40)
@given(
    st.recursive(
        arrays,
        lambda inner: (
            st.lists(inner, min_size=1, max_size=3).map(in_cells)
            | st.dictionaries(st.sampled_from(["Segmentation", "b", "a_longer_name"]), inner, min_size=1)
        ),
        max_leaves=6,
    ),
    st.booleans(),
)
def test_files_that_scipy_reads(value, packed):
    data = saved({"before": np.ones((2, 3)), "x": value, "after": "text"}, packed)
    same(read_variable(data, "x", "f.mat"), loadmat(io.BytesIO(data))["x"])
    assert read_variable(data, "absent", "f.mat") is None
    assert read_variable(data, "after", "f.mat") is None


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_file_made_by_hand(order):
    # x = uint8([1 2 3]) as in the format's description: flags of class 9, shape, name, values within 4 bytes
    def element(kind, content):
        return struct.pack(f"{order}II", kind, len(content)) + content.ljust(-(-len(content) // 8) * 8, b"\0")

    def short(kind, content):
        return struct.pack(f"{order}I", len(content) << 16 | kind) + content.ljust(4, b"\0")

    array = element(6, struct.pack(f"{order}II", 9, 0)) + element(5, struct.pack(f"{order}ii", 1, 3)) + short(1, b"x")
    array += short(2, bytes([1, 2, 3]))
    header = b"MATLAB 5.0".ljust(124) + struct.pack(f"{order}H", 0x0100) + {"<": b"IM", ">": b"MI"}[order]
    assert read_variable(header + element(14, array), "x", "f.mat").tolist() == [[1, 2, 3]]
    packed = zlib.compress(element(14, array))
    data = header + struct.pack(f"{order}II", 15, len(packed)) + packed
    assert read_variable(data, "x", "f.mat").tolist() == [[1, 2, 3]]


def test_more_than_may_be_unpacked(monkeypatch):
    data = saved({"x": np.zeros((100, 100))}, packed=True)
    monkeypatch.setenv("KALOS_MOST_UNPACKED", "1000")
    with pytest.raises(InputError, match=r"^f\.mat: expected at most 1,000 bytes in a packed file, got 1,001"):
        read_variable(data, "x", "f.mat")


def test_cells_within_cells_without_end():
    value = np.ones((1, 1))
    for _ in range(12):
        value = in_cells([value])
    with pytest.raises(ValueError, match="more than 10 levels"):
        read_variable(saved({"x": value}), "x", "f.mat")
