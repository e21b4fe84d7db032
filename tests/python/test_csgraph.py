"""Graph algorithms against SciPy, of dense and sparse graphs, and what they have to satisfy where several answers are right."""

from __future__ import annotations

import numpy as np
import pytest

import broadcloth as bc
from broadcloth.scipy import sparse
from broadcloth.scipy.sparse import csgraph
from support import host

pytest.importorskip("scipy.sparse.csgraph")
import scipy.sparse as scipy_sparse
import scipy.sparse.csgraph as reference

pytestmark = pytest.mark.filterwarnings("ignore::broadcloth.exceptions.PerformanceWarning")
FORMS = ["dense", "csr_array", "csc_array", "coo_matrix"]


def graph(n, density, seed=0, negative=False):
    """Lengths of a random graph with integer values, so that sums are exact; without negative cycles."""
    rng = np.random.default_rng(seed)
    a = rng.integers(1, 20, (n, n)) * (rng.random((n, n)) < density)
    np.fill_diagonal(a, 0)
    if negative:
        height = rng.integers(0, 15, n)
        a = np.where(a > 0, a + height[:, None] - height, 0)
    return a.astype(float)


def formed(a, form):
    return bc.asarray(a) if form == "dense" else getattr(sparse, form)(getattr(scipy_sparse, form)(a))


def theirs(a):
    return scipy_sparse.csr_array(a)


def length_of(a, before, source, node, directed):
    """The length of the path that predecessors describe."""
    both = np.where(a != 0, a, np.inf)
    both = both if directed else np.minimum(both, both.T)
    total = 0.0
    for _ in range(len(a) + 1):
        if node == source:
            return total
        total += both[before[node], node]
        node = before[node]
    raise AssertionError("the predecessors make a ring")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("density", [0.02, 0.1, 0.6])
@pytest.mark.parametrize("name", ["dijkstra", "bellman_ford", "johnson", "floyd_warshall"])
def test_shortest_paths(device, name, density, directed, form):
    a = graph(30, density, negative=name != "dijkstra" and directed)
    want = getattr(reference, name)(theirs(a), directed=directed)
    got, before = getattr(csgraph, name)(formed(a, form), directed=directed, return_predecessors=True)
    np.testing.assert_array_equal(host(got), want)
    assert before.dtype == np.int32 and got.dtype == np.float64
    before = host(before)
    for source in range(0, 30, 7):
        for node in range(30):
            if node == source or want[source, node] == np.inf:
                assert before[source, node] == -9999
            else:
                assert length_of(a, before[source], source, node, directed) == want[source, node]
    unweighted = getattr(csgraph, name)(formed(a, form), directed=directed, unweighted=True)
    np.testing.assert_array_equal(host(unweighted), getattr(reference, name)(theirs(a), directed=directed, unweighted=True))


@pytest.mark.parametrize("name", ["dijkstra", "bellman_ford", "johnson", "shortest_path"])
def test_sources(device, name):
    a = graph(12, 0.3)
    run, want = getattr(csgraph, name), host(csgraph.floyd_warshall(bc.asarray(a)))
    for indices in (3, -1, [2], [0, 5, 5], [[1, 2], [3, 4]], np.int64(4)):
        np.testing.assert_array_equal(host(run(bc.asarray(a), indices=indices)), want[indices])
    np.testing.assert_array_equal(host(run(bc.asarray(a), indices=bc.array([1, 2]))), want[[1, 2]])
    with pytest.raises(ValueError, match="out of range"):
        run(bc.asarray(a), indices=12)


@pytest.mark.parametrize("method", ["auto", "FW", "D", "BF", "J"])
@pytest.mark.parametrize("indices", [None, [0, 3]])
def test_methods_of_shortest_path(device, method, indices):
    a = graph(15, 0.2)
    got = csgraph.shortest_path(formed(a, "csr_array"), method, indices=indices)
    np.testing.assert_array_equal(host(got), reference.floyd_warshall(theirs(a))[slice(None) if indices is None else indices])
    negative = graph(15, 0.2, negative=True)
    if method != "D":
        got = csgraph.shortest_path(formed(negative, "csr_array"), method, indices=indices)
        want = reference.floyd_warshall(theirs(negative))[slice(None) if indices is None else indices]
        np.testing.assert_array_equal(host(got), want)
    with pytest.raises(ValueError, match="unrecognized method"):
        csgraph.shortest_path(bc.asarray(a), "X")


def test_limits_and_nearest_sources(device):
    a = graph(40, 0.06)
    for limit in (0, 7, 20):
        np.testing.assert_array_equal(host(csgraph.dijkstra(bc.asarray(a), limit=limit)), reference.dijkstra(theirs(a), limit=limit))
    got, before, sources = csgraph.dijkstra(bc.asarray(a), indices=[1, 2, 3], min_only=True, return_predecessors=True)
    want = reference.dijkstra(theirs(a), indices=[1, 2, 3], min_only=True)
    np.testing.assert_array_equal(host(got), want)
    for node, source in enumerate(host(sources)):
        if want[node] < np.inf:
            assert length_of(a, host(before), source, node, True) == want[node]
        else:
            assert source == -9999
    with pytest.raises(ValueError, match="limit"):
        csgraph.dijkstra(bc.asarray(a), limit=-1)
    with pytest.warns(UserWarning, match="negative weights"):
        csgraph.dijkstra(bc.array([[0, -1.0], [0, 0]]))


@pytest.mark.filterwarnings("ignore:Graph has negative weights")
@pytest.mark.parametrize("name", ["dijkstra", "bellman_ford", "johnson", "floyd_warshall"])
def test_negative_cycles(device, name):
    with pytest.raises(csgraph.NegativeCycleError):
        getattr(csgraph, name)(bc.array([[0, 1.0, 0], [0, 0, 1], [-3, 0, 0]]))
    with pytest.raises(csgraph.NegativeCycleError):  # an edge that goes both ways is a cycle
        getattr(csgraph, name)(bc.array([[0, -1.0], [0, 0]]), directed=False)


@pytest.mark.filterwarnings("ignore:Graph has negative weights")
def test_dijkstra_ends_beside_a_negative_cycle(device):
    a = np.zeros((5, 5))
    a[0, 1], a[1, 2], a[3, 4], a[4, 3] = 4, -2, -1, 0.5  # 3 and 4 are the cycle
    g = bc.asarray(a)
    for other in ({"limit": 10.0}, {"min_only": True}):
        with pytest.raises(csgraph.NegativeCycleError):
            csgraph.dijkstra(g, indices=[0, 3], **other)
        got = csgraph.dijkstra(g, indices=[0], **other)
        assert host(got).ravel().tolist() == [0, 4, 2, np.inf, np.inf]


def test_edges_of_length_zero_and_several_edges(device):
    a = sparse.csr_array((bc.array([0.0, 0.0, 5.0, 2.0]), bc.array([1, 0, 2, 2]), bc.array([0, 1, 4, 4])), shape=(3, 3))
    for name in ("dijkstra", "bellman_ford", "johnson", "floyd_warshall"):
        distances, before = getattr(csgraph, name)(a, return_predecessors=True)
        assert host(distances).tolist() == [[0, 0, 2], [0, 0, 2], [np.inf, np.inf, 0]]
        assert host(before).tolist() == [[-9999, 0, 1], [1, -9999, 1], [-9999] * 3]


@pytest.mark.parametrize("directed", [True, False])
def test_the_methods_of_the_gpu_are_those_of_the_host(device, directed):
    """What runs on a GPU is array operations, which run on every device."""
    from broadcloth.scipy.sparse.csgraph import _graphs, _paths, _structure

    for density, negative in ((0.02, False), (0.1, True), (0.5, True)):
        a = graph(25, density, 3, negative and directed)
        g = _graphs.Graph(formed(a, "csr_array"))
        found = _paths.relaxed(g, directed, bc.arange(25, dtype="int32"))
        want = reference.floyd_warshall(theirs(a), directed=directed)
        np.testing.assert_array_equal(host(found[0]), want)
        for source in (0, 11):
            for node in range(25):
                if node != source and want[source, node] < np.inf:
                    assert length_of(a, host(found[1])[source], source, node, directed) == want[source, node]
        lengths = g.dense()
        found = _paths.all_pairs(lengths if directed else bc.minimum(lengths, lengths.T))
        np.testing.assert_array_equal(host(found[0]), want)
        for node in range(1, 25):
            if want[0, node] < np.inf:
                assert length_of(a, host(found[1])[0], 0, node, directed) == want[0, node]
        labels = host(_structure.propagated(g))
        _, weak = reference.connected_components(theirs(a))
        np.testing.assert_array_equal(np.unique(labels, return_inverse=True)[1], weak)
    cycle = _graphs.Graph(bc.array([[0, 1.0], [-2.0, 0]]))
    assert _paths.relaxed(cycle, True, bc.arange(2, dtype="int32")) == () and _paths.all_pairs(cycle.dense()) == ()
    chain = _graphs.Graph(formed(np.diag(np.ones(99), -1), "csr_array"))
    assert not host(_structure.propagated(chain)).any()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("density", [0.0, 0.01, 0.03, 0.2])
def test_components(device, density, form):
    a = graph(60, density)
    for directed, connection in ((True, "weak"), (False, "weak"), (True, "strong"), (False, "strong")):
        count, labels = csgraph.connected_components(formed(a, form), directed, connection)
        want, reference_labels = reference.connected_components(theirs(a), directed, connection)
        assert count == want == csgraph.connected_components(formed(a, form), directed, connection, return_labels=False)
        # The same partition, numbered by first nodes.
        first = {label: i for i, label in reversed(list(enumerate(reference_labels)))}
        rank = {label: i for i, label in enumerate(sorted(first, key=first.get))}
        assert host(labels).tolist() == [rank[label] for label in reference_labels] and labels.dtype == np.int32
    with pytest.raises(ValueError, match="connection"):
        csgraph.connected_components(bc.asarray(a), connection="other")


@pytest.mark.parametrize("form", ["dense", "csr_array"])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("density", [0.03, 0.1, 0.5])
def test_searches(device, density, directed, form):
    a = graph(40, density)
    for name in ("breadth_first", "depth_first"):
        for start in (0, 7, 39):
            order, before = getattr(csgraph, f"{name}_order")(formed(a, form), start, directed)
            want, want_before = getattr(reference, f"{name}_order")(theirs(a), start, directed)
            np.testing.assert_array_equal(host(order), want)
            np.testing.assert_array_equal(host(before), want_before)
            tree = getattr(csgraph, f"{name}_tree")(formed(a, form), start, directed)
            np.testing.assert_array_equal(host(tree.toarray()), getattr(reference, f"{name}_tree")(theirs(a), start, directed).toarray())
    assert csgraph.breadth_first_order(bc.asarray(a), 1, return_predecessors=False).ndim == 1
    with pytest.raises(ValueError, match="expected a node"):
        csgraph.breadth_first_order(bc.asarray(a), 40)


def test_trees_of_large_graphs_find_lengths_by_search(device):
    from broadcloth.scipy.sparse.csgraph import _graphs, _structure

    a = graph(30, 0.3)
    g = _graphs.Graph(bc.asarray(a))
    rows, columns = np.nonzero(a)
    for directed in (True, False):
        both = np.where(a != 0, a, np.inf)
        want = (both if directed else np.minimum(both, both.T))[rows, columns]
        np.testing.assert_array_equal(host(_structure._lengths(g, bc.asarray(rows), bc.asarray(columns), directed)), want)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("density", [0.0, 0.05, 0.4])
def test_spanning_trees(device, density, form):
    a = graph(30, density)
    tree = csgraph.minimum_spanning_tree(formed(a, form))
    want = reference.minimum_spanning_tree(theirs(a))
    got = host(tree.toarray())
    assert got.sum() == want.sum() and np.count_nonzero(got) == want.nnz
    assert (got[got != 0] == a[got != 0]).all()
    assert csgraph.connected_components(tree)[0] == reference.connected_components(theirs(a))[0]
    assert isinstance(tree, sparse.csr_matrix if form == "coo_matrix" else sparse.csr_array)


@pytest.mark.parametrize("symmetric", [True, False])
def test_bandwidths_fall(device, symmetric):
    rng = np.random.default_rng(0)
    band = np.eye(60) + np.eye(60, k=1) + np.eye(60, k=2)
    band = band + band.T if symmetric else band
    shuffled = band[p := rng.permutation(60)][:, p]
    order = host(csgraph.reverse_cuthill_mckee(formed(shuffled, "csr_array"), symmetric))
    assert sorted(order.tolist()) == list(range(60)) and order.dtype == np.int32
    rows, columns = np.nonzero(shuffled[order][:, order])
    assert abs(rows - columns).max() <= 4
    with pytest.raises(TypeError, match="CSC or CSR"):
        csgraph.reverse_cuthill_mckee(bc.eye(3))


@pytest.mark.parametrize("method", ["dinic", "edmonds_karp"])
@pytest.mark.parametrize("density", [0.05, 0.2, 0.7])
def test_flows(device, density, method):
    capacity = graph(25, density).astype(np.int32)
    found = csgraph.maximum_flow(formed(capacity, "csr_array"), 0, 24, method=method)
    assert found.flow_value == reference.maximum_flow(scipy_sparse.csr_array(capacity), 0, 24).flow_value
    assert type(found.flow) is sparse.csr_array
    assert type(csgraph.maximum_flow(formed(capacity, "csr_matrix"), 0, 24, method=method).flow) is sparse.csr_matrix
    flow = host(found.flow.toarray())
    np.testing.assert_array_equal(flow, -flow.T)
    assert (flow <= capacity).all()
    leaving = flow.sum(1)
    assert leaving[0] == found.flow_value == -leaving[24] and not leaving[1:24].any()


def test_wrong_arguments_of_flows(device):
    with pytest.raises(TypeError, match="CSR"):
        csgraph.maximum_flow(bc.ones((2, 2), int), 0, 1)
    with pytest.raises(ValueError, match="integers"):
        csgraph.maximum_flow(sparse.csr_array([[0, 1.0], [0, 0]]), 0, 1)
    with pytest.raises(ValueError, match="must differ"):
        csgraph.maximum_flow(sparse.csr_array([[0, 1], [0, 0]]), 0, 0)
    with pytest.raises(ValueError, match="sink value"):
        csgraph.maximum_flow(sparse.csr_array([[0, 1], [0, 0]]), 0, 5)


@pytest.mark.parametrize("shape", [(20, 20), (12, 30), (30, 12)])
@pytest.mark.parametrize("density", [0.02, 0.08, 0.3])
def test_matchings(device, density, shape):
    a = (np.random.default_rng(1).random(shape) < density).astype(float)
    want = np.count_nonzero(reference.maximum_bipartite_matching(theirs(a), "column") >= 0)
    A = formed(a, "csr_array")
    columns, rows = host(csgraph.maximum_bipartite_matching(A, "column")), host(csgraph.maximum_bipartite_matching(A, "row"))
    assert columns.shape == (shape[0],) and rows.shape == (shape[1],)
    for i, j in enumerate(columns):
        assert j == -1 or (a[i, j] and rows[j] == i)
    assert np.count_nonzero(columns >= 0) == np.count_nonzero(rows >= 0) == want == csgraph.structural_rank(A)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("normed", [False, True])
def test_laplacians_of_infinite_lengths(device, normed, form):
    a = np.array([[np.inf, 1, np.inf], [1, -np.inf, 2], [0, 2, 3]])
    for out in (False, True):
        with np.errstate(all="ignore"):
            given = a.copy() if form == "dense" else getattr(scipy_sparse, form)(a)
            want, diagonal = reference.laplacian(given, normed, return_diag=True, use_out_degree=out)
        got, w = csgraph.laplacian(formed(a, form), normed, return_diag=True, use_out_degree=out)
        np.testing.assert_array_equal(host(got if form == "dense" else got.toarray()), want if form == "dense" else want.toarray())
        np.testing.assert_array_equal(host(w), diagonal)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("normed", [False, True])
@pytest.mark.parametrize("out", [False, True])
def test_laplacians(device, out, normed, form):
    a = graph(12, 0.3) + np.diag(np.arange(12) % 3)
    a[3], a[:, 3] = 0, 0  # a node without edges
    for symmetrized in (False, True):
        options = {"normed": normed, "use_out_degree": out, "symmetrized": symmetrized}
        want, diagonal = reference.laplacian(a.copy(), return_diag=True, **options)
        got, w = csgraph.laplacian(formed(a, form), return_diag=True, **options)
        if form != "dense":
            theirs_made = reference.laplacian(getattr(scipy_sparse, form)(a), **options)
            assert (type(got).__name__, got.dtype) == (type(theirs_made).__name__, theirs_made.dtype)
        np.testing.assert_allclose(host(got if form == "dense" else got.toarray()), want, 1e-13, 1e-13)
        np.testing.assert_allclose(host(w), diagonal, 1e-13)
        v = np.arange(24.0).reshape(12, 2)
        for kind in ("function", "lo"):
            apply = csgraph.laplacian(formed(a, form), form=kind, **options)
            theirs_apply = reference.laplacian(a.copy(), form="function", **options)
            run = apply if kind == "function" else apply.matmat
            np.testing.assert_allclose(host(run(bc.asarray(v))), theirs_apply(v), 1e-12, 1e-12)
    with pytest.raises(ValueError, match="form"):
        csgraph.laplacian(formed(a, form), form="other")
    with pytest.raises(ValueError, match="square"):
        csgraph.laplacian(bc.ones((2, 3)))


def test_dense_and_sparse_graphs(device):
    a = np.array([[0, 1, np.inf], [np.nan, 0, 2], [3, -1, 0.0]])
    got = csgraph.csgraph_from_dense(bc.asarray(a))
    np.testing.assert_array_equal(host(got.toarray()), reference.csgraph_from_dense(a).toarray())
    got = csgraph.csgraph_from_dense(bc.asarray(a), null_value=-1, infinity_null=False, nan_null=True)
    want = reference.csgraph_from_dense(a, null_value=-1, infinity_null=False, nan_null=True)
    assert got.nnz == want.nnz and host(got.indices).tolist() == want.indices.tolist()
    back = csgraph.csgraph_to_dense(csgraph.csgraph_from_dense(bc.asarray(a)), null_value=np.nan)
    np.testing.assert_array_equal(host(back), reference.csgraph_to_dense(reference.csgraph_from_dense(a), null_value=np.nan))
    masked = csgraph.csgraph_masked_from_dense(bc.asarray(a))
    np.testing.assert_array_equal(masked.mask, reference.csgraph_masked_from_dense(a).mask)
    want = host(csgraph.csgraph_from_dense(bc.asarray(a)).toarray())
    assert host(csgraph.csgraph_from_masked(masked).toarray()).tolist() == want.tolist()
    again = csgraph.csgraph_to_masked(csgraph.csgraph_from_dense(bc.asarray(a)))
    np.testing.assert_array_equal(again.mask, masked.mask)
    with pytest.raises(ValueError, match="square"):
        csgraph.csgraph_from_dense(bc.ones((2, 3)))
    with pytest.raises(ValueError, match=r"\(N, N\)"):
        csgraph.dijkstra(sparse.csr_array(bc.ones((2, 3))))


@pytest.mark.parametrize("directed", [True, False])
def test_distances_and_trees_of_predecessors(device, directed):
    a = graph(15, 0.2)
    distances, before = csgraph.shortest_path(bc.asarray(a), directed=directed, return_predecessors=True)
    np.testing.assert_array_equal(host(csgraph.construct_dist_matrix(bc.asarray(a), before, directed)), host(distances))
    row = host(before)[2]
    np.testing.assert_array_equal(
        host(csgraph.reconstruct_path(bc.asarray(a), bc.asarray(row), directed).toarray()),
        reference.reconstruct_path(theirs(a), row, directed).toarray(),
    )


def test_empty_graphs(device):
    a = sparse.csr_array((5, 5))
    assert csgraph.connected_components(a)[0] == 5
    assert host(csgraph.shortest_path(a)).tolist() == np.where(np.eye(5) > 0, 0, np.inf).tolist()
    assert csgraph.minimum_spanning_tree(a).nnz == 0
    assert csgraph.breadth_first_order(a, 2)[0].tolist() == [2]


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("form", ["dense", "csr_array"])
def test_several_shortest_paths(device, form, directed):
    for seed in range(8):
        a = graph(7, 0.5, seed, negative=directed and seed % 2 == 0)
        got, before = csgraph.yen(formed(a, form), 0, 3, 6, directed=directed, return_predecessors=True)
        np.testing.assert_allclose(host(got), reference.yen(theirs(a), 0, 3, 6, directed=directed))
        for length, row in zip(host(got), host(before), strict=True):
            assert length_of(a, row, 0, 3, directed) == pytest.approx(length)
        assert len({tuple(row) for row in host(before)}) == len(host(before))
        unweighted = csgraph.yen(formed(a, form), 0, 3, 4, directed=directed, unweighted=True)
        np.testing.assert_array_equal(host(unweighted), reference.yen(theirs(a), 0, 3, 4, directed=directed, unweighted=True))
    assert csgraph.yen(sparse.csr_array((3, 3)), 0, 1, 2).shape == (0,)
    for source, sink in ((-1, 0), (0, 9)):
        with pytest.raises(ValueError, match="must have 0 <="):
            csgraph.yen(formed(a, form), source, sink, 2)
    with pytest.raises(csgraph.NegativeCycleError):
        csgraph.yen(formed(np.array([[0, 1.0], [-2, 0]]), form), 0, 1, 1)


def test_yens_paths_of_random_graphs(device):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 12))
        a = rng.integers(1, 9, (n, n)) * (rng.random((n, n)) < 0.5).astype(float)
        for directed in (True, False):
            got, before = csgraph.yen(formed(a, "csr_array"), 1, n - 1, 25, directed=directed, return_predecessors=True)
            np.testing.assert_array_equal(host(got), reference.yen(theirs(a), 1, n - 1, 25, directed=directed))
            assert len({tuple(row) for row in host(before)}) == len(host(before))
            for length, row in zip(host(got), host(before), strict=True):
                assert length_of(a, row, 1, n - 1, directed) == pytest.approx(length)
    assert host(csgraph.yen(formed(a, "csr_array"), 2, 2, 3)).tolist() == [0]
    # Edges that are negative without a cycle of them
    a = np.triu(np.random.default_rng(3).integers(-5, 9, (8, 8)), 1).astype(float)
    np.testing.assert_allclose(host(csgraph.yen(formed(a, "csr_array"), 0, 7, 30)), reference.yen(theirs(a), 0, 7, 30))


@pytest.mark.parametrize("shape", [(1, 1), (6, 6), (5, 9), (9, 5), (30, 30)])
def test_matchings_of_least_and_greatest_weight(device, shape):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        a = rng.integers(-20, 20, shape) * (rng.random(shape) < 0.7).astype(float)
        for maximize in (False, True):
            try:
                want = reference.min_weight_full_bipartite_matching(theirs(a), maximize)
            except ValueError:
                with pytest.raises(ValueError, match="no full matching exists"):
                    csgraph.min_weight_full_bipartite_matching(formed(a, "csr_array"), maximize)
                continue
            rows, columns = map(host, csgraph.min_weight_full_bipartite_matching(formed(a, "coo_matrix"), maximize))
            assert (rows.dtype, columns.dtype) == (want[0].dtype, want[1].dtype)
            assert (rows == want[0]).all() and len(set(columns)) == len(columns) == min(shape)
            assert (a[rows, columns] != 0).all() and a[rows, columns].sum() == a[want].sum()
    with pytest.raises(TypeError):
        csgraph.min_weight_full_bipartite_matching(bc.ones((2, 2)))


@pytest.mark.parametrize("dtype", ["i4", "f4", "f8", "c8"])
@pytest.mark.parametrize("form", FORMS)
def test_laplacians_have_the_dtype_that_is_asked_for(device, form, dtype):
    a = np.array([[0, 1, 0], [4, 2, 0], [0, 0, 0]], dtype)
    for options in ({}, {"dtype": dtype}, {"dtype": "f4"}, {"symmetrized": True}, {"use_out_degree": True}):
        for normed in (False, True):
            if np.dtype(options.get("dtype", dtype)).kind < np.dtype(dtype).kind:
                continue
            given = a.copy() if form == "dense" else theirs(a)
            got = csgraph.laplacian(formed(a, form), normed, return_diag=True, **options)
            want = reference.laplacian(given, normed, return_diag=True, **options)
            for x, y in zip(got, want, strict=True):
                x, y = (v.toarray() if hasattr(v, "toarray") else v for v in (x, y))
                assert x.dtype == y.dtype
                np.testing.assert_allclose(host(x), y, rtol=1e-6)


@pytest.mark.parametrize("form", ["dense", "csr_array"])
def test_laplacians_of_whole_numbers_are_cut_off_alike_in_every_form(form):
    a = np.array([[0, 1, 0], [4, 2, 0], [0, 0, 0]], np.int32)
    graph = bc.asarray(a) if form == "dense" else sparse.csr_array(bc.asarray(a))
    options = {"normed": True, "symmetrized": True, "dtype": np.int32}
    made = csgraph.laplacian(graph, **options)
    array = host(made if form == "dense" else made.toarray())
    function = csgraph.laplacian(graph, form="function", **options)
    np.testing.assert_array_equal(host(function(np.eye(3, dtype=np.int32)).astype(np.int32)), array)
    np.testing.assert_array_equal(array, reference.laplacian(a, **options))


@pytest.mark.parametrize("layout", ["C", "F", "strided", "reversed", "int64"])
def test_path_lengths_of_every_layout(device, layout):
    a = graph(9, 0.4)
    _, before = reference.dijkstra(theirs(a), return_predecessors=True)
    expected = reference.construct_dist_matrix(theirs(a), before)
    whole = np.full((18, 9), -9999, np.int32)
    whole[::2] = before
    given = {
        "C": bc.asarray(before), "F": bc.asfortranarray(bc.asarray(before)), "strided": bc.asarray(whole)[::2],
        "reversed": bc.asarray(before[::-1, ::-1].copy())[::-1, ::-1], "int64": bc.asarray(before.astype(np.int64)),
    }[layout]  # fmt: skip
    for form in ("csr_array", "coo_matrix"):
        np.testing.assert_array_equal(host(csgraph.construct_dist_matrix(formed(a, form), given)), expected)
    got = csgraph.construct_dist_matrix(bc.asarray(a), given, null_value=-1.0)
    np.testing.assert_array_equal(host(got), np.where(np.isinf(expected), -1.0, expected))


def test_path_lengths_of_special_predecessors(device):
    a = np.array([[0, 1.0, 0], [0, 0, 2.0], [4.0, 0, 0]])
    circle = np.array([[-9999, 2, 1], [-9999] * 3, [-9999] * 3], np.int32)  # of which SciPy's function does not end
    got = host(csgraph.construct_dist_matrix(bc.asarray(a), bc.asarray(circle)))
    assert got.shape == (3, 3) and got[0, 0] == 0 and np.isinf(got[1, 0])
    assert csgraph.construct_dist_matrix(bc.zeros((1, 1)), bc.full((1, 1), -9999)).tolist() == [[0]]
    with pytest.raises(ValueError, match="same shape"):
        csgraph.construct_dist_matrix(bc.asarray(a), bc.zeros((2, 2), np.int32))


@pytest.mark.parametrize("n", [1, 7, 8, 9, 40])
def test_floyd_and_warshall_between_blocks_of_nodes(n):
    a = graph(n, 0.3, n, negative=True)
    got, before = (host(x) for x in csgraph.floyd_warshall(bc.asarray(a), return_predecessors=True))
    want = reference.floyd_warshall(a)
    np.testing.assert_array_equal(got, want)
    for source in range(n):
        for node in range(n):
            if source != node and np.isfinite(want[source, node]):
                assert length_of(a, before[source], source, node, True) == want[source, node]


def test_the_shortest_of_several_edges_makes_the_dense_graph():
    data, column = [3.0, 1.0, 0.0, 5.0], [1, 1, 2, 0]
    several = sparse.csr_array((bc.array(data), bc.array(column), bc.array([0, 2, 3, 4])), shape=(3, 3))
    assert host(csgraph.csgraph_to_dense(several, null_value=-1)).tolist() == [[-1, 1, -1], [-1, -1, 0], [5, -1, -1]]
    masked = csgraph.csgraph_to_masked(several)
    assert masked.mask.tolist() == [[True, False, True], [True, True, False], [False, True, True]]


def test_masked_graphs_keep_zeros_infinities_and_nan():
    a = np.ma.masked_array([[0.0, np.inf], [2.0, np.nan]], [[False, False], [True, False]])
    made = csgraph.csgraph_from_masked(a)
    wanted = reference.csgraph_from_masked(a)
    assert host(made.indptr).tolist() == wanted.indptr.tolist() == [0, 2, 3]
    np.testing.assert_array_equal(host(made.data), wanted.data)
    assert made.has_canonical_format


@pytest.mark.parametrize("normed", [False, True])
def test_the_laplacian_of_a_dense_view(normed):
    a = graph(6, 0.6)
    view = bc.asarray(np.repeat(a, 2, 1))[:, ::2].T
    np.testing.assert_allclose(host(csgraph.laplacian(view, normed=normed)), reference.laplacian(a.T, normed=normed), rtol=1e-14)
    np.testing.assert_array_equal(host(view), a.T)


@pytest.mark.parametrize("shape", [(1, 1), (6, 6), (40, 40), (40, 60), (60, 40), (5, 90)])
def test_matchings_of_least_weight_with_ties_duplicates_and_single_edges(shape):
    rng = np.random.default_rng(shape[1])
    for density, top in ((0.1, 3), (0.3, 3), (1.0, 50)):
        weights = rng.integers(1, top + 1, shape) * (rng.random(shape) < density).astype(float)
        for i in range(min(shape)):
            weights[i, (i * 7 + 3) % min(shape)] = max(1.0, weights[i, i])  # so that there is a full matching where 7 divides it out
        for maximize in (False, True):
            try:
                rows, columns = reference.min_weight_full_bipartite_matching(scipy_sparse.csr_array(weights), maximize)
            except ValueError:
                with pytest.raises(ValueError, match="no full matching"):
                    csgraph.min_weight_full_bipartite_matching(sparse.csr_array(bc.asarray(weights)), maximize)
                continue
            got, to = (host(x) for x in csgraph.min_weight_full_bipartite_matching(sparse.csr_array(bc.asarray(weights)), maximize))
            assert len(set(to)) == len(to) == min(shape) and (weights[got, to] > 0).all()
            assert weights[got, to].sum() == weights[rows, columns].sum()
