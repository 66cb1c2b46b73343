"""Commands over a folder of shards: the numbers of the file it was written from."""

import json

import pytest

from kalos_core.cli import main


@pytest.fixture
def shards(labels, tmp_path, capsys):
    assert main(["shards", str(labels), str(tmp_path / "shards"), "--images-per-shard", "4"]) == 0
    assert "2 shards, 6 images, 35 annotations" in capsys.readouterr().out
    return tmp_path / "shards"


def document(arguments, capsys):
    assert main([*map(str, arguments), "--json", "-"]) == 0
    return json.loads(capsys.readouterr().out)


def close(one, other):
    """The same up to rounding, at any depth."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(close(one[name], other[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(close, one, other))
    return one == (pytest.approx(other, abs=1e-12) if isinstance(other, float) else other)


@pytest.mark.parametrize(
    ("command", "without", "more"),
    [
        (["agreement", "--thresholds", "0.3", "0.6", "--bootstrap", "9"], {"annotations"}, set()),
        (["variations"], {"merged", "boundaries", "findings"}, {"images"}),
        (["calibrate", "--bootstrap", "5", "--coordinates", "pixels"], set(), set()),
        (["convergence", "--samples", "5", "--fraction", "0.5", "--models", "net 0.4"], {"criteria"}, set()),
    ],
    ids=lambda given: given[0] if isinstance(given, list) else "",
)
def test_as_of_the_file(labels, shards, capsys, command, without, more):
    of_file = document([command[0], labels, *command[1:]], capsys)
    of_shards = document([command[0], shards, *command[1:]], capsys)
    assert close(of_file["results"], of_shards["results"])
    assert set(of_shards["tables"]) == set(of_file["tables"]) - without | more
    for name in set(of_file["tables"]) - without:
        assert close(of_file["tables"][name], of_shards["tables"][name]), name


def test_workers_do_it(shards, capsys):
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        found = document(["variations", shards, "--dask", cluster.scheduler_address], capsys)
    assert found["results"]["counts"] == document(["variations", shards], capsys)["results"]["counts"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["agreement", "{labels}", "--dask", "tcp://a:1"],
            "expected a folder of shards (kalos-core shards)",
        ),
        (
            ["agreement", "{shards}", "--format", "coco"],
            "expected no option of a reader",
        ),
        (["agreement", "{shards}", "--next", "2"], "next: expected annotations, got a folder of shards"),
        (["shards", "{labels}", "{shards}"], "expected a new or an empty folder, got 5 files"),
    ],
)
def test_what_does_not_fit_is_refused(labels, shards, capsys, arguments, message):
    assert main([text.format(labels=labels, shards=shards) for text in arguments]) == 2
    assert message in capsys.readouterr().err
