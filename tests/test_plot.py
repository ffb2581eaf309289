"""A plot is a real picture, whole or not there."""

import resource
from contextlib import contextmanager
from xml.etree import ElementTree

import numpy as np
import pytest

from twinset.errors import BadInput, BadOption
from twinset.planning import plan

pytest.importorskip("matplotlib")
from matplotlib.image import imread

from twinset.report.plot import SHOWN, draw

BEFORE = "an older picture"


@pytest.fixture(scope="module")
def found():
    return plan(0.8, bytes=128)


@contextmanager
def full_disk():
    """Files of more than a kilobyte fail to be written, as on a disk without room. No fixture: pytest's own output may go to a file."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def lines_of(path):
    """The curves of an SVG, each an array of its corners, and its comments, which hold the texts."""
    tree = ElementTree.parse(path, ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True)))
    assert tree.getroot().tag.endswith("}svg")
    name = tree.getroot().tag.removesuffix("svg")  # the namespace
    drawn = [
        path.get("d").replace("M", "").replace("L", "").split() for path in tree.iter() if path.tag == f"{name}path" and path.get("d", "").count("L") > 2 and path.get("clip-path")
    ]
    texts = [comment.text.strip() for comment in tree.iter(ElementTree.Comment)]
    return [np.array(each, float).reshape(-1, 2) for each in drawn], texts


def test_an_svg_has_a_curve_for_each_choice_and_names_it(found, tmp_path):
    draw(found, tmp_path / "plan.svg")
    curves, texts = lines_of(tmp_path / "plan.svg")
    shown = list(found)[:SHOWN]
    assert len(curves) == len(shown)
    assert [text for text in texts if text.endswith("bytes)")] == [f"{choice.bits} × {choice.samples} ({choice.bytes} bytes)" for choice in shown]
    assert {"resemblance R", "variance of the estimate", "threshold 0.8"} <= set(texts)
    # Downwards is less variance: the best choice is lowest at the threshold, and every curve ends near 0.
    at = np.array([np.interp(curve[0, 0] + 0.8 * (curve[-1, 0] - curve[0, 0]), *curve.T) for curve in curves])
    assert at.argmax() == 0
    assert all(curve[-1, 1] > curve[0, 1] for curve in curves)


def test_a_png_is_a_picture_with_ink_and_paper(found, tmp_path):
    draw(found, tmp_path / "plan.png")
    picture = imread(tmp_path / "plan.png")
    assert picture.shape[:2] == (450, 700)
    dark = (picture[..., :3].mean(axis=2) < 0.5).mean()
    assert 0.005 < dark < 0.3


def test_a_pdf_begins_and_ends_as_one(found, tmp_path):
    draw(found, str(tmp_path / "plan.pdf"))
    written = (tmp_path / "plan.pdf").read_bytes()
    assert written.startswith(b"%PDF-")
    assert written.rstrip().endswith(b"%%EOF")


@pytest.mark.parametrize("options", [{"bytes": 8}, {"bytes": 64, "r1": 0.9, "r2": 0.85}, {"precision": 0.9, "similarities": "0:0.9+0.95:0.1"}])
def test_every_kind_of_plan_can_be_drawn(options, tmp_path):
    draw(plan(0.88, **options), tmp_path / "plan.svg")
    curves, _ = lines_of(tmp_path / "plan.svg")
    assert curves
    assert all(np.isfinite(curve).all() for curve in curves)


@pytest.mark.parametrize("name", ["plan.gif", "plan", "plan.SVG.txt", ".svg"])
def test_another_ending_is_an_error_and_writes_nothing(found, tmp_path, name):
    with pytest.raises(BadOption) as caught:
        draw(found, tmp_path / name)
    assert str(caught.value) == f"plot is {str(tmp_path / name)!r}; allowed: a name that ends in .svg, .png, .pdf"
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_to_is_an_error(found, tmp_path):
    with pytest.raises(BadInput, match=r"plan\.svg cannot be written \(No such file or directory\); allowed: a file in a folder that exists"):
        draw(found, tmp_path / "nowhere/plan.svg")
    (tmp_path / "folder.svg").mkdir()
    with pytest.raises(BadInput, match=r"folder\.svg is a directory; allowed: the name of a file to write"):
        draw(found, tmp_path / "folder.svg")
    assert [path.name for path in tmp_path.iterdir()] == ["folder.svg"]


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_a_full_disk_leaves_the_older_picture_and_nothing_else(found, tmp_path, ending):
    path = tmp_path / f"plan.{ending}"
    path.write_text(BEFORE)
    with full_disk(), pytest.raises((OSError, BadInput), match="File too large"):
        draw(found, path)
    assert path.read_text() == BEFORE
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_an_older_picture_is_replaced(found, tmp_path):
    path = tmp_path / "plan.svg"
    path.write_text(BEFORE)
    draw(found, path)
    assert len(lines_of(path)[0]) == min(len(found), SHOWN)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
