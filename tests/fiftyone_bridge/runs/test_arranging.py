"""After loading, raters have colours, the sidebar has groups, and useful fields are visible."""

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core import agreement, read_coco
from kalos_core.display import RATER_COLOURS
from tests.operators.calls import coco


def colours(dataset: fo.Dataset) -> dict[str, str]:
    return {entry["path"]: entry["fieldColor"] for entry in dataset.app_config.color_scheme.fields}


def groups(dataset: fo.Dataset) -> dict[str, list[str]]:
    return {group.name: list(group.paths) for group in dataset.app_config.sidebar_groups}


def ticked(dataset: fo.Dataset) -> list[str]:
    return list(dataset.app_config.active_fields.paths)


@pytest.fixture
def loaded(tmp_path):
    return kf.load_raters(coco(), canvas=tmp_path, persistent=False).dataset


def test_raters_come_first_in_the_colours_of_figures(loaded):
    fields = ["ann", "bob", "dr_c"]
    assert colours(loaded) == dict(zip(fields, RATER_COLOURS, strict=False))
    assert loaded.app_config.color_scheme.color_by == "field"
    assert next(iter(groups(loaded).items())) == ("raters", fields)
    assert sum(path == "ann" for paths in groups(loaded).values() for path in paths) == 1
    assert ticked(loaded) == fields


def test_fields_of_a_run_are_in_its_group_until_it_is_deleted(loaded):
    before = groups(loaded), ticked(loaded)
    assert before[0]["runs"] == []
    kf.compute_agreement(loaded, "first", bootstrap=0, thresholds=())
    kf.compute_agreement(loaded, "second", bootstrap=0, thresholds=())
    written = [name for name in loaded.get_field_schema() if name.startswith(("first", "second"))]
    assert len(written) > 4
    assert sorted(groups(loaded)["runs"]) == sorted(written)
    assert ticked(loaded) == ["ann", "bob", "dr_c", "first_alpha"]
    kf.rename_run(loaded, "second", "third")
    assert not [path for path in groups(loaded)["runs"] if path.startswith("second")]
    assert "third_alpha" in groups(loaded)["runs"]
    for key in kf.list_runs(loaded):
        kf.delete_run(loaded, key)
    assert (groups(loaded), ticked(loaded)) == before


def test_choices_of_a_user_stay(loaded):
    config = loaded.app_config
    config.color_scheme.fields = [{"path": "ann", "fieldColor": "#123456"}, {"path": "tags", "fieldColor": "#654321"}]
    config.active_fields = fo.ActiveFields(paths=["tags"])
    config._add_path_to_sidebar_group("filepath", "mine")
    loaded.save()
    kf.arrange_app(loaded)
    once = colours(loaded), groups(loaded), ticked(loaded)
    assert once[0] == {"ann": "#123456", "tags": "#654321", "bob": RATER_COLOURS[1], "dr_c": RATER_COLOURS[2]}
    assert once[1]["mine"] == ["filepath"]
    assert once[2] == ["tags", "ann", "bob", "dr_c"]
    kf.arrange_app(loaded)
    assert (colours(loaded), groups(loaded), ticked(loaded)) == once


@pytest.mark.filterwarnings("ignore:analysis. no ")  # with one image
def test_an_analysis_may_follow_a_load(tmp_path):
    told: list[tuple[float, str]] = []
    done = kf.load_raters(
        coco(), canvas=tmp_path, persistent=False, analyse=True, progress=lambda *given: told.append(given)
    )
    assert done.analysis is not None
    alpha = kf.load_metrics(done.dataset, "analysis", "agreement").metrics["alpha"]
    assert alpha == pytest.approx(agreement(read_coco(coco()), "box_iou", bootstrap=0).alpha)
    shares = [share for share, _ in told]
    assert (shares, shares[-1]) == (sorted(shares), 1)
    assert [label for _, label in told if label.startswith("Agreement: ")]
    assert ticked(done.dataset)[-1] == "analysis_alpha"
