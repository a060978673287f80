"""Adjustment sets, held to every set of small graphs and to what they are for: the effect of doing."""

import itertools

import numpy as np
import pytest

import fishernet as fn


def random_dag(rng: np.random.Generator, n: int) -> fn.Dag:
    order = rng.permutation(n)
    names = [f"v{v}" for v in range(n)]
    edges = [(names[order[a]], names[order[b]]) for a, b in itertools.combinations(range(n), 2) if rng.random() < 0.4]
    return fn.Dag.from_edges(names, edges)


def net_of(rng: np.random.Generator, dag: fn.Dag) -> fn.BayesianNetwork:
    """Return a network of the graph with random tables of two or three states."""
    variables = [fn.Variable(name, range(int(rng.integers(2, 4)))) for name in dag.names]
    tables, parents = {}, {}
    for v, of in enumerate(dag.parents):
        shape = tuple(variables[p].cardinality for p in of)
        tables[dag.names[v]] = rng.dirichlet(np.ones(variables[v].cardinality), size=shape)
        parents[dag.names[v]] = [dag.names[p] for p in of]
    return fn.BayesianNetwork.from_tables(variables, parents, tables)


def adjusted(net: fn.BayesianNetwork, x: str, y: str, given: tuple[str, ...]) -> np.ndarray:
    """Return the sum over the given of P(y | x, given) P(given), one row a state of x."""
    joint = np.asarray(net.query([x, y, *given]))
    of_given = joint.sum(axis=(0, 1))
    conditional = joint / joint.sum(axis=1, keepdims=True)
    return np.asarray((conditional * of_given).reshape(*joint.shape[:2], -1).sum(axis=2))


def doing(net: fn.BayesianNetwork, x: str, y: str) -> np.ndarray:
    states = net.variables[net.dag.names.index(x)].states
    return np.array([np.asarray(net.given(do={x: state}).query(y)) for state in states])


@pytest.mark.parametrize("seed", range(30))
def test_they_are_the_minimal_ones_of_all_sets(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dag = random_dag(rng, 6)
    for x, y in itertools.permutations(dag.names, 2):
        others = [name for name in dag.names if name not in (x, y)]
        hidden = set(rng.choice(others, 1)) if seed % 2 else set()
        subsets = [set(s) for size in range(len(others) + 1) for s in itertools.combinations(others, size)]
        valid = [s for s in subsets if dag.is_valid_adjustment(x, y, s)]
        open_ones = [s for s in valid if not s & hidden]
        minimal = {frozenset(s) for s in open_ones if not any(other < s for other in open_ones)}
        found = dag.adjustment_sets(x, y, unobserved=hidden)
        assert len(set(map(frozenset, found))) == len(found)
        assert set(map(frozenset, found)) == minimal


@pytest.mark.parametrize("seed", range(6))
def test_adjusting_for_one_gives_the_effect_of_doing_and_for_others_it_does_not(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dag = random_dag(rng, 5)
    net = net_of(rng, dag)
    for x, y in itertools.permutations(dag.names, 2):
        others = [name for name in dag.names if name not in (x, y)]
        true = doing(net, x, y)
        for size in range(len(others) + 1):
            for given in itertools.combinations(others, size):
                right = np.allclose(adjusted(net, x, y, given), true, atol=1e-9)
                assert right == dag.is_valid_adjustment(x, y, given), (x, y, given)


def test_textbook_graphs() -> None:
    m_shape = fn.Dag.from_edges(list("xyabm"), [("a", "x"), ("a", "m"), ("b", "m"), ("b", "y"), ("x", "y")])
    assert m_shape.adjustment_sets("x", "y") == ((),)
    assert not m_shape.is_valid_adjustment("x", "y", "m")  # a collider that is known opens a path
    assert m_shape.is_valid_adjustment("x", "y", ["m", "a"])
    front_door = fn.Dag.from_edges(list("xyzu"), [("u", "x"), ("u", "y"), ("x", "z"), ("z", "y")])
    assert front_door.adjustment_sets("x", "y", unobserved="u") == ()
    assert front_door.adjustment_sets("x", "z", unobserved="u") == ((),)
    assert front_door.adjustment_sets("z", "y", unobserved="u") == (("x",),)
    mediator = fn.Dag.from_edges(list("xym"), [("x", "m"), ("m", "y")])
    assert not mediator.is_valid_adjustment("x", "y", "m")


def test_many_sets_are_listed_up_to_a_number() -> None:
    arcs = []
    for chain in range(10):
        a, b = f"a{chain}", f"b{chain}"
        arcs += [(a, "x"), (a, b), (b, "y")]
    names = ["x", "y", *dict.fromkeys(name for arc in arcs for name in arc if name not in "xy")]
    dag = fn.Dag.from_edges(names, arcs)
    assert len(dag.adjustment_sets("x", "y", most=5000)) == 2**10
    assert len(dag.adjustment_sets("x", "y", most=7)) == 7


@pytest.mark.parametrize("seed", range(10))
def test_implied_independences_hold_and_cover_all_pairs_without_an_arc(seed: int) -> None:
    dag = random_dag(np.random.default_rng(seed), 7)
    told = dag.implied_independences()
    assert all(dag.is_d_separated(a, b, given) for a, b, given in told)
    apart = {frozenset(pair) for pair in itertools.combinations(dag.names, 2)} - {frozenset(arc) for arc in dag.edges}
    assert {frozenset((a, b)) for a, b, _ in told} == apart


def test_what_is_no_pair_is_refused() -> None:
    dag = fn.Dag.from_edges(list("xy"), [("x", "y")])
    with pytest.raises(fn.SchemaError):
        dag.adjustment_sets("x", "x")
    with pytest.raises(fn.SchemaError):
        dag.is_valid_adjustment("x", "nobody")
    assert dag.adjustment_sets("y", "x") == ()


@pytest.mark.parametrize("seed", range(10))
def test_the_members_of_a_class_are_the_dags_with_its_edges(seed: int) -> None:
    dag = random_dag(np.random.default_rng(seed), 4)
    found = [member.edges for member in fn.graphs.cpdag(dag).members()]
    pairs = [tuple(pair) for pair in dag.edges]
    every = []
    for ways in itertools.product([False, True], repeat=len(pairs)):
        try:
            other = fn.Dag.from_edges(
                dag.names, [(b, a) if way else (a, b) for way, (a, b) in zip(ways, pairs, strict=True)]
            )
        except fn.CycleError:
            continue
        if other.is_equivalent(dag):
            every.append(other.edges)
    assert len(set(found)) == len(found)
    assert set(found) == set(every)


def led_back(dag: fn.Dag, between: set[int], target: int, given: set[int]) -> bool:
    """Whether a path that begins with an arc into one of some nodes leads to another node, path by path."""
    below: list[set[int]] = [set() for _ in dag.names]
    for v in reversed(dag.order):
        below[v] = {v}.union(*(below[c] for c in dag.children[v]))

    def open_paths(path: list[int], came_down: bool) -> bool:
        v = path[-1]
        if v == target:
            return True
        for u in {*dag.parents[v], *dag.children[v]} - set(path):
            goes_down = u in dag.children[v]
            passes = bool(below[v] & given) if came_down and not goes_down else v not in given
            if passes and open_paths([*path, u], goes_down):
                return True
        return False

    return any(open_paths([z, p], False) for z in between for p in dag.parents[z] if p not in between or p == target)


def is_between(dag: fn.Dag, x: int, y: int, chosen: set[int]) -> bool:
    """Pearl's front-door criterion, path by path; paths back go through no arc out of the set."""
    stack, seen = [x], {x}
    while stack:
        for child in dag.children[stack.pop()]:
            if child not in chosen and child not in seen:
                seen.add(child)
                stack.append(child)
    if y in seen:
        return False
    without = fn.Dag(dag.names, [tuple(p for p in of if p not in chosen) for of in dag.parents])
    return not any(led_back(dag, {x}, z, set()) for z in chosen) and not led_back(without, chosen, y, {x})


@pytest.mark.parametrize("seed", range(25))
def test_front_door_sets_are_the_minimal_ones_of_all_sets(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dag = random_dag(rng, 6)
    place = {name: v for v, name in enumerate(dag.names)}
    for x, y in itertools.permutations(dag.names, 2):
        others = [name for name in dag.names if name not in (x, y)]
        hidden = set(rng.choice(others, 1)) if seed % 2 else set()
        seen = [name for name in others if name not in hidden]
        subsets = [set(s) for size in range(len(seen) + 1) for s in itertools.combinations(seen, size)]
        valid = [s for s in subsets if is_between(dag, place[x], place[y], {place[name] for name in s})]
        minimal = {frozenset(s) for s in valid if not any(other < s for other in valid)}
        found = dag.front_door_sets(x, y, unobserved=hidden)
        assert set(map(frozenset, found)) == minimal, (x, y)
        assert len(found) == len(minimal)


def test_a_set_too_large_to_be_tried_is_found_by_leaving_out() -> None:
    between, beside = [f"m{k}" for k in range(16)], [f"o{k}" for k in range(4)]
    arcs = [("u", "x"), ("u", "y"), *(("x", m) for m in between), *((m, "y") for m in between)]
    dag = fn.Dag.from_edges(["u", "x", *beside, *between, "y"], arcs)
    assert dag.front_door_sets("x", "y", unobserved="u") == (tuple(between),)
    assert dag.front_door_sets("x", "y", unobserved=["u", "m3"]) == ()
    assert dag.front_door_sets("y", "x") == ((),)


def through(net: fn.BayesianNetwork, x: str, y: str, between: tuple[str, ...]) -> np.ndarray:
    """Return the front-door formula, one row a state of x."""
    joint = np.asarray(net.query([x, *between, y]))
    joint = joint.reshape(joint.shape[0], -1, joint.shape[-1])
    of_x = joint.sum(axis=(1, 2))
    between_given_x = joint.sum(axis=2) / of_x[:, None]
    target = joint / joint.sum(axis=2, keepdims=True)
    return np.asarray(between_given_x @ np.einsum("x,xzy->zy", of_x, target))


def test_the_formula_through_them_gives_the_effect_of_doing() -> None:
    tried = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        dag = random_dag(rng, 5)
        net = net_of(rng, dag)
        for x, y in itertools.permutations(dag.names, 2):
            for between in dag.front_door_sets(x, y):
                tried += bool(between)
                np.testing.assert_allclose(through(net, x, y, between), doing(net, x, y), atol=1e-10)
    assert tried > 40


def test_instruments_give_the_slope_of_linear_models_and_are_all_that_do() -> None:
    tried = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        dag = random_dag(rng, 6)
        slopes = np.zeros((6, 6))
        for v, of in enumerate(dag.parents):
            slopes[v, list(of)] = rng.normal(size=len(of))
        total = np.linalg.inv(np.eye(6) - slopes)  # total[y, x] is the effect of x on y
        covariance = total @ np.diag(rng.uniform(0.5, 2, 6)) @ total.T
        for x, y in itertools.permutations(range(6), 2):
            hidden = int(rng.choice([v for v in range(6) if v not in (x, y)]))
            found = dict(dag.instruments(dag.names[x], dag.names[y], unobserved=dag.names[hidden]))
            below = {dag.names.index(name) for name in dag.names if dag.names[x] in dag.ancestors(name)}
            cut = fn.Dag(dag.names, [tuple(p for p in of if p != x) for of in dag.parents])
            seen = [v for v in range(6) if v not in {x, y, hidden, *below}]
            for z in seen:
                others = [dag.names[v] for v in seen if v not in (z, y)]
                sets = [set(of) for size in range(len(others) + 1) for of in itertools.combinations(others, size)]
                apart = [of for of in sets if cut.is_d_separated(dag.names[z], dag.names[y], of)]
                minimal = [of for of in apart if not any(other < of for other in apart)]
                right = any(not dag.is_d_separated(dag.names[z], dag.names[x], of) for of in minimal)
                assert right == (dag.names[z] in found), (seed, x, y, z)
                if right:
                    given = [dag.names.index(name) for name in found[dag.names[z]]]
                    rest = covariance - covariance[:, given] @ np.linalg.pinv(
                        covariance[np.ix_(given, given)]
                    ) @ covariance[given] if given else covariance  # fmt: skip
                    tried += 1
                    assert rest[z, y] / rest[z, x] == pytest.approx(total[y, x], rel=1e-6, abs=1e-8)
    assert tried > 50
