"""Which files of a folder are documents, and that each has a name of its own."""

import os

import pytest

from twinset.documents.folders import SUFFIXES, documents, survey
from twinset.errors import BadInput


def grow(root, *names):
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def names(*paths):
    return [file.name for file in documents(paths)]


def test_folders_are_searched_to_the_bottom_in_the_order_of_names(tmp_path):
    grow(tmp_path, "b.txt", "a/z.PDF", "a/b/c.docx", "c.md")
    assert names(tmp_path) == ["a/b/c.docx", "a/z.PDF", "b.txt", "c.md"]
    assert [file.size for file in documents([tmp_path])] == [10, 7, 5, 4]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_suffix_is_found_in_either_case(tmp_path, suffix):
    grow(tmp_path, f"a{suffix}", f"b{suffix.upper()}")
    assert names(tmp_path) == [f"a{suffix}", f"b{suffix.upper()}"]


def test_hidden_files_are_passed_over_and_other_suffixes_counted(tmp_path):
    grow(tmp_path, "a.txt", ".b.txt", ".git/c.txt", "d.png", "e.png", "Makefile", "f.xlsx")
    found = survey([tmp_path])
    assert [file.name for file in found.files] == ["a.txt"]
    assert found.ignored == {".png": 2, "no suffix": 1, ".xlsx": 1}


def test_a_file_named_directly_is_taken_whatever_its_suffix(tmp_path):
    grow(tmp_path, "a.log")
    assert names(tmp_path / "a.log") == ["a.log"]


def test_names_are_unique(tmp_path):
    grow(tmp_path, "new/a.txt", "old/a.txt", "old/b.txt", "x/new/a.txt")
    assert names(tmp_path / "new", tmp_path / "old") == ["b.txt", "new/a.txt", "old/a.txt"]
    three = names(tmp_path / "new", tmp_path / "old", tmp_path / "x/new")
    assert three[0].endswith("/new/a.txt")
    assert len(set(three)) == 4


def test_a_file_met_twice_is_taken_once(tmp_path):
    grow(tmp_path, "a/b.txt")
    assert names(tmp_path, tmp_path / "a", tmp_path / "a/b.txt") == ["a/b.txt"]


def test_links_and_devices_inside_a_folder_are_left_alone(tmp_path):
    grow(tmp_path, "in/a.txt", "out/secret.txt")
    (tmp_path / "in/link.txt").symlink_to(tmp_path / "out/secret.txt")
    (tmp_path / "in/folder").symlink_to(tmp_path / "out")
    (tmp_path / "in/circle").symlink_to(tmp_path / "in")
    os.mkfifo(tmp_path / "in/pipe.txt")
    found = survey([tmp_path / "in"])
    assert [file.name for file in found.files] == ["a.txt"]
    assert found.ignored == {"a link": 3, "no file": 1}
    assert names(tmp_path / "in/folder") == ["secret.txt"]


def test_names_that_no_output_can_carry_are_made_printable(tmp_path):
    with open(os.fsencode(tmp_path) + b"/b\xff\x1b[31m.txt", "w") as stream:
        stream.write("x")
    assert names(tmp_path) == ["b??[31m.txt"]


def test_a_missing_path_is_named(tmp_path):
    with pytest.raises(BadInput, match=r"nowhere is not there; allowed: folders, and files such as \.txt"):
        documents([tmp_path / "nowhere"])
