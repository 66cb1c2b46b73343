"""Commands on a folder of shards give the numbers of the source file."""

import shlex

import pytest

from kalos_core.cli import main
from tests.tiers import extended


@pytest.fixture(scope="module")
def shards(files):
    folder = files["here"] / "shards"
    assert main(["shards", str(files["labels"]), str(folder), "--images-per-shard", "4"]) == 0
    return folder


def close(one, other):
    """Return whether values are equal up to rounding, at any depth."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(close(one[name], other[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(close, one, other))
    return one == (pytest.approx(other, abs=1e-12) if isinstance(other, float) else other)


COMMANDS = [
    ("agreement --thresholds 0.3 0.6 --bootstrap 9 --next 2", {"annotations"}, set()),
    ("variations", {"merged", "findings"}, {"images"}),
    ("calibrate --bootstrap 5 --compare-in pixels", set(), set()),
    ("convergence --samples 5 --fraction 0.5 --models 'net 0.4'", set(), set()),
]
"""Command, tables that differ from those of the file, and additional ones."""


@pytest.mark.parametrize(("line", "without", "more"), COMMANDS, ids=[line.split()[0] for line, _, _ in COMMANDS])
def test_as_of_the_file(labels, shards, found_by, line, without, more):
    command, *options = shlex.split(line)
    of_file, of_shards = found_by(command, labels, *options), found_by(command, shards, *options)
    assert close(of_file["results"], of_shards["results"])
    assert set(of_shards["tables"]) == set(of_file["tables"]) - without | more
    for name in set(of_file["tables"]) - without:
        assert close(of_file["tables"][name], of_shards["tables"][name]), name


@extended
def test_workers_do_it(shards, found_by):
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        found = found_by("variations", shards, "--dask", cluster.scheduler_address)
    assert found["results"]["counts"] == found_by("variations", shards)["results"]["counts"]


def test_written_values_and_those_that_do_not_fit(labels, shards, refusal, tmp_path, capsys):
    assert main(["shards", str(labels), str(tmp_path / "new"), "--images-per-shard", "4"]) == 0
    assert "2 shards, 8 images, 47 annotations" in capsys.readouterr().out
    assert "expected no option of a reader" in refusal("agreement", shards, "--format", "coco")
    for option in (["--truth", "confusion"], ["--boundaries"]):
        assert "expected a file or folder of annotations, got a folder of shards, which is not supported" in refusal(
            "agreement", shards, *option
        )
    assert "expected a new or an empty folder, got 5 files" in refusal("shards", labels, shards)
