"""Tables of numbers in csv files: exact digits, and a message for every cell that is no number."""

import numpy as np
import pytest

import phijax as phi


def test_columns_by_name_keep_every_digit(tmp_path):
    path = tmp_path / "seen.csv"
    path.write_text('\ufeffx, u,n,"h"\n0.1,1e-3,3,1+2j\n\n0.30000000000000004,nan,4,0.5\n', encoding="utf-8")
    columns = phi.data(path).columns
    assert list(columns) == ["x", "u", "n", "h"]
    np.testing.assert_array_equal(columns["x"], [0.1, 0.30000000000000004])
    np.testing.assert_array_equal(columns["u"], [1e-3, np.nan])
    assert columns["n"].dtype == np.float64
    np.testing.assert_array_equal(columns["h"], [1 + 2j, 0.5])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,u\n1,2\n3,\n", "column 'u' is empty in line 3; leave out rows without a value."),
        ("x,u\n1,2\n\n3,NA\n", "column 'u' holds 'NA', which is no number in line 4; leave out rows without a value."),
        (
            'x,u\n1,"0,5"\n',
            "column 'u' holds '0,5', which is no number in line 2; separate columns by commas, and write",
        ),
        (
            "x,u\n0,5,0,5\n",
            "line 2 has 4 cells, and the first line names 2; separate columns by commas, and write numbers",
        ),
        ("x;u\n0,5;0,5\n", "its columns are separated by semicolons; separate columns by commas"),
        ("x\tu\n1\t2\n", "its columns are separated by tabs"),
        ("x,u\n# by hand\n1,2\n", "line 2 is a comment; leave it out"),
        ("# x,u\n1,2\n", "line 1 is a comment; its first line must name the columns, without '#'."),
        ("", "has an empty first line; its first line must name the columns."),
        ("x,x\n1,2\n", "its first line names the column 'x' twice"),
        ("x,\n1,2\n", "its first line has no name for column 2"),
        ("x,\xe9\n".encode("latin-1"), "is no csv file in UTF-8"),
    ],
)
def test_what_is_no_number_is_named_with_its_line(tmp_path, text, message):
    path = tmp_path / "seen.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError) as error:
        phi.data(path)
    assert message in str(error.value)
    assert str(path) in str(error.value)


def test_a_file_of_another_kind_is_refused(tmp_path):
    with pytest.raises(
        ValueError, match=r"seen.txt: observed values are read from .csv, with a line of names, or from"
    ):
        phi.data(tmp_path / "seen.txt")
