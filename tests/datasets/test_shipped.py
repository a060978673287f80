from __future__ import annotations

import gzip
import hashlib
import itertools
import math
from collections import Counter
from typing import Unpack

import pytest

from fishernet import BayesianNetwork, FishernetError, Table
from fishernet.data.options import FileKeywords
from fishernet.datasets import load, names
from fishernet.datasets.shipped import FOLDER


def table(name: str, **options: Unpack[FileKeywords]) -> Table:
    loaded = load(name, **options)
    assert isinstance(loaded, Table)
    return loaded


def labels(loaded: Table, name: str) -> list[object]:
    states = loaded.variables[loaded.names.index(name)].states
    return [states[code] for code in loaded.column(name)]


def test_names_are_those_that_load_knows() -> None:
    assert names() == ("alarm", "asia", "letter", "nursery")
    for name in names():
        assert isinstance(load(name), Table if name in ("letter", "nursery") else BayesianNetwork)


def test_nursery_has_every_combination_once_and_the_classes_of_its_description() -> None:
    # nursery.names of the UCI repository: 12960 instances cover the attribute space; class distribution
    nursery = table("nursery")
    assert nursery.names == (
        *("parents", "has_nurs", "form", "children", "housing", "finance", "social", "health", "class"),
    )
    assert nursery.cardinalities == (3, 5, 4, 4, 3, 2, 3, 3, 5)
    assert nursery.n_rows == math.prod(nursery.cardinalities[:8])
    assert set(zip(*(column.tolist() for column in nursery.codes[:8]), strict=True)) == set(
        itertools.product(*map(range, nursery.cardinalities[:8]))
    )
    counts = Counter(labels(nursery, "class"))
    assert counts == {"not_recom": 4320, "recommend": 2, "very_recom": 328, "priority": 4266, "spec_prior": 4044}


def test_letter_has_the_letters_and_features_of_its_description() -> None:
    # letter-recognition.names of the UCI repository: integers 0 to 15, 20000 instances; the classes' sizes
    letter = table("letter")
    assert letter.n_rows == 20_000
    assert letter.names[:3] == ("x-box", "y-box", "width")
    for variable in letter.variables[:16]:
        assert sorted(map(int, variable.states)) == list(range(16))
        assert {type(state) for state in variable.states} == {int}
    counts = Counter(labels(letter, "class"))
    assert sorted(map(str, counts)) == [chr(code) for code in range(ord("A"), ord("Z") + 1)]
    assert (counts["A"], counts["H"], counts["U"], counts["Z"]) == (789, 734, 813, 734)
    first = [labels(letter, name)[0] for name in letter.names]
    assert first == [2, 8, 3, 5, 1, 8, 13, 0, 6, 6, 10, 8, 0, 8, 0, 8, "T"]


def test_options_go_to_read_table() -> None:
    letter = table("letter", bins=4)
    assert all(variable.cuts is not None and variable.cardinality <= 4 for variable in letter.variables[:16])
    assert letter.variables[16].cardinality == 26


@pytest.mark.parametrize("name", ["asia", "alarm"])
def test_networks_are_complete(name: str) -> None:
    net = load(name)
    assert isinstance(net, BayesianNetwork)
    assert len(net.sample(5, seed=0)) == 5


def test_asia_has_the_numbers_of_the_paper() -> None:
    # Lauritzen and Spiegelhalter 1988, Table 1
    asia = load("asia")
    assert asia.conditional("asia").table().tolist() == [0.01, 0.99]
    assert asia.conditional("tub").table()[:, 0].tolist() == [0.05, 0.01]
    assert asia.conditional("smoke").table().tolist() == [0.5, 0.5]
    assert asia.conditional("lung").table()[:, 0].tolist() == [0.1, 0.01]
    assert asia.conditional("bronc").table()[:, 0].tolist() == [0.6, 0.3]
    assert asia.conditional("xray").table()[:, 0].tolist() == [0.98, 0.05]
    assert asia.conditional("dysp").table()[:, :, 0].tolist() == [[0.9, 0.8], [0.7, 0.1]]


@pytest.mark.parametrize("name", ["iris", "", "Asia", "../asia"])
def test_an_unknown_name_lists_what_there_is(name: str) -> None:
    with pytest.raises(FishernetError, match=f"there is no data set '{name}'; there are alarm, asia, letter, nursery"):
        load(name)


def test_networks_take_no_options() -> None:
    with pytest.raises(FishernetError, match="'asia' is a network, for which there is no option bins"):
        load("asia", bins=4)


def test_files_are_what_the_attribution_says() -> None:
    """The bytes are those that were compared with the originals, and every file is accounted for."""
    digests = {
        "alarm.bif.gz": "f5860caa7137b5817e0c4f169cce0f1451ce6c246b96f5ce4fb4a8167993be29",
        "asia.bif.gz": "7d5e7b8549834824c1b05f367eb7860fa3fca3adaf3649f0c7be6035af197197",
        "nursery.csv.gz": "dda0d659c6b65b7afe48f80ad1904f24cd967a54df0873b5e0ab5acd3e4f54e0",
    }
    letter = gzip.decompress((FOLDER / "letter.csv.gz").read_bytes())
    assert hashlib.sha256(letter).hexdigest() == "e82774b2dfec47320d36e8e223e2bfd8a5ee0c7e5a106d97ea2088f177bec107"
    for name, digest in digests.items():
        assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() == digest
    attribution = (FOLDER / "ATTRIBUTION.md").read_text(encoding="utf-8")
    assert [path.name for path in FOLDER.glob("*.gz") if f"## {path.name}" not in attribution] == []
    for needed in (
        "10.24432/C5P88W",
        "10.24432/C5ZP40",
        "licenses/by/4.0",
        "licenses/by-sa/3.0",
        "Beinlich",
        "Lauritzen",
    ):
        assert needed in attribution
