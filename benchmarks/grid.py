"""The p/w grid and permute-both against plain loops: `python -m benchmarks.grid [grid|redraw|permute|walk …] [--full]`.

The plain loops are timed on a sample of their work in the same run and scaled up (`--full`: all of the grid's loop, minutes).
Texts play no role here: importances, scores and human scores are drawn at random, about 40 words a segment.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from engine.boost.grid import COEFFICIENTS, W_GRID, Items, surfaces
from engine.boost.power import P_GRID, Importances, power_means
from engine.boost.significance import Pair, compare_groups
from engine.stats.permutation import LEVELS, permuted_differences

GROUPS, SEGMENTS = 7, 1000
SYSTEMS, INPUTS, RESAMPLES = 16, 1600, 9999


def main() -> None:
    """Run the chosen parts."""
    parts = {"grid": grid, "redraw": redraw, "permute": permute, "walk": walk}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"any of {', '.join(parts)} (default all)")
    parser.add_argument("--full", action="store_true", help="time the whole plain loop of the grid, not a sample")
    arguments = parser.parse_args()
    for name in arguments.parts or parts:
        parts[name](arguments.full)


def grid(full: bool) -> None:
    """600 x 6 cells for 7 groups of 1000 segments, every coefficient."""
    groups = [_explained(seed, SEGMENTS) for seed in range(GROUPS)]
    _warm_up()
    cpu = time.process_time()
    means_time, means = _timed(lambda: [power_means(importances).means for _, importances, _ in groups])
    items = [Items(str(k), scores, found, human) for k, ((scores, _, human), found) in enumerate(zip(groups, means))]
    own = {name: _timed(lambda name=name: surfaces(items, name)) for name in COEFFICIENTS}
    cpu = time.process_time() - cpu
    total = means_time + sum(seconds for seconds, _ in own.values())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"grid, {GROUPS} groups x {SEGMENTS} segments x {len(P_GRID)} x {len(W_GRID)}, all three coefficients:")
    print(f"  {total:.2f} s ({cpu:.2f} s of processor time), peak {peak:.0f} MiB")
    exponents = range(len(P_GRID)) if full else range(0, len(P_GRID), 40)
    few = items if full else items[:1]
    share = len(P_GRID) * GROUPS / (len(exponents) * len(few))
    plain_means, _ = _timed(lambda: [_plain_means(importances, exponents) for _, importances, _ in groups[: len(few)]])
    plain_means *= share
    print(f"  power means     {means_time:6.2f} s, plain loop {plain_means:6.1f} s: {plain_means / means_time:5.0f} x")
    for name, (seconds, found) in own.items():
        results = [_plain_grid(item, exponents, name) for item in few]
        worst = max(np.abs(surface.correlation[list(exponents)] - cells).max() for surface, (_, cells) in zip(found, results))
        plain = sum(spent for spent, _ in results) * share
        both = (plain + plain_means) / (seconds + means_time)
        print(
            f"  {name:15s} {seconds:6.2f} s, plain loop {plain:6.1f} s: {plain / seconds:5.0f} x; "
            f"with the power means {both:4.0f} x; largest difference {worst:.1e}"
        )


def redraw(full: bool) -> None:
    """What a moved control costs: 1600 outputs with 150 words each, one group."""
    scores, importances, human = _explained(0, 1600, words=150)
    _warm_up()
    seconds, found = _timed(lambda: power_means(importances, P_GRID, "softplus"))
    print(f"redraw, 1600 outputs x 150 words: another regularisation {seconds:.2f} s, and then")
    for name in COEFFICIENTS:
        seconds, _ = _timed(lambda name=name: surfaces([Items("", scores, found.means, human)], name))
        print(f"  {name:15s} {seconds:6.3f} s")


def permute(full: bool) -> None:
    """Permute-both, 9999 resamples of 16 systems x 1600 segments."""
    rng = np.random.default_rng(0)
    human = rng.normal(size=(SYSTEMS, INPUTS))
    pair = Pair(human + 2 * rng.normal(size=human.shape), human + 2.2 * rng.normal(size=human.shape), human)
    small = Pair(pair.boosted[:, :4], pair.original[:, :4], human[:, :4])
    print(f"permute-both, {RESAMPLES} resamples, {SYSTEMS} systems x {INPUTS} segments, and a plain loop over scipy")
    for level in LEVELS:
        for name in COEFFICIENTS:
            compare_groups([small], level, name, 20)
            cpu = time.process_time()
            seconds, found = _timed(lambda level=level, name=name: compare_groups([pair], level, name, RESAMPLES))
            cpu = time.process_time() - cpu
            count = {"system": 200, "segment": 8, "segment-mean": 1}[level]
            plain, _ = _timed(lambda level=level, name=name, count=count: _plain_permute(pair, level, name, count))
            ratio = plain * RESAMPLES / count / seconds
            spent = f"{seconds:6.2f} s ({cpu:5.1f} s of processor time)"
            print(f"  {level:13s} {name:9s} {spent}, p = {found.p_value:.4f}: {ratio:6.0f} x")


def walk(full: bool) -> None:
    """Permute-both with Kendall over all outputs against a compiled walk over the sorted values for each resample."""
    count = 1024 if full else 100
    print(f"Kendall over all outputs, {RESAMPLES} resamples, {SYSTEMS} systems x {INPUTS} segments, in processor time")
    for name, decimals in (("no ties", 15), ("scores tie", 2), ("scores and human scores tie", 1)):
        human, first, second = np.random.default_rng(0).normal(size=(3, SYSTEMS, INPUTS))
        matrices = [np.round(matrix, decimals) for matrix in (human + 2 * first, human + 2.2 * second)]
        human = human if decimals == 2 else np.round(human, decimals)
        run = permuted_differences
        run(*matrices, human, "segment", "kendall", 1, np.random.default_rng(1))
        cpu = time.process_time()
        delta, ours = run(*matrices, human, "segment", "kendall", RESAMPLES, np.random.default_rng(1))
        cpu = time.process_time() - cpu
        coins = np.random.default_rng(1).integers(0, 2, size=(count, SYSTEMS + INPUTS), dtype=np.uint8)
        _walks(*matrices, human, coins[:1])
        walked = time.process_time()
        theirs = _walks(*matrices, human, coins)
        walked = (time.process_time() - walked) * RESAMPLES / len(coins)
        worst = np.abs(ours[: len(theirs)] - theirs).max()
        print(f"  {name:28s} {cpu:6.2f} s, walk {walked:6.1f} s: {walked / cpu:4.0f} x; largest difference {worst:.1e}")


def _walks(a: np.ndarray, b: np.ndarray, human: np.ndarray, coins: np.ndarray) -> np.ndarray:
    """Differences of tau-b after swaps, one resample after the other."""
    ranks = np.unique(human, return_inverse=True)[1].ravel()
    a, b = a.ravel(), b.ravel()
    values = np.unique(np.concatenate([(a - a.mean()) / a.std(), (b - b.mean()) / b.std()]), return_inverse=True)[1]
    order = np.argsort(values, kind="stable")
    kernel, found = _walk_kernel(), []
    for coin in coins:
        swapped = (coin[:SYSTEMS, None] != coin[SYSTEMS:][None, :]).ravel()
        taus = [kernel(order, values, ranks, np.append(side, ~side)) for side in (~swapped, swapped)]
        found.append(taus[0] - taus[1])
    return np.array(found)


@lru_cache
def _walk_kernel() -> Callable:
    import numba

    @numba.njit
    def tau(order, values, ranks, owned):
        """Tau-b of the owned values, walked in ascending order with a Fenwick tree over the human ranks."""
        n = len(ranks)
        tree, equal = np.zeros(ranks.max() + 2, np.int32), np.zeros(ranks.max() + 1, np.int32)
        waiting = np.empty(n, np.int64)  # equal values of the run at hand
        balance, own, human, held, done, last = 0, n * (n - 1) // 2, n * (n - 1) // 2, 0, 0, -1
        for k in order:
            if not owned[k]:
                continue
            if values[k] != last:
                for j in range(held):
                    i = waiting[j] + 1
                    human -= equal[i - 1]
                    equal[i - 1] += 1
                    while i < len(tree):
                        tree[i] += 1
                        i += i & -i
                done, held, last = done + held, 0, values[k]
            rank = ranks[k % n]
            lower, i = 0, rank
            while i > 0:
                lower += tree[i]
                i &= i - 1
            balance += 2 * lower + equal[rank] - done
            own -= held
            waiting[held] = rank
            held += 1
        for j in range(held):
            human -= equal[waiting[j]]
            equal[waiting[j]] += 1
        return balance / np.sqrt(own) / np.sqrt(human)

    return tau


def _explained(seed: int, n: int, words: int = 40) -> tuple[np.ndarray, Importances, np.ndarray]:
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=n)
    values = [0.02 + 0.005 * q + rng.normal(0, 0.02, rng.integers(words // 2, words * 3 // 2)) for q in quality]
    return 0.8 + 0.05 * quality + rng.normal(0, 0.1, n), Importances.of(values), quality + rng.normal(size=n)


def _warm_up() -> None:
    scores, importances, human = _explained(0, 20)
    for name in COEFFICIENTS:
        surfaces([Items("", scores, power_means(importances).means, human)], name)


def _timed(work: Callable) -> tuple[float, object]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def _plain_means(importances: Importances, exponents: range) -> list[list[float]]:
    """The formula, exponent by exponent and segment by segment."""
    segments = np.split(importances.values, importances.offsets[1:-1])
    shifted = [values + abs(values.min()) + 1e-9 if values.min() <= 0 else values + 1e-9 for values in segments]
    found = []
    for k in exponents:
        p = P_GRID[k]
        found.append([np.exp(np.log(v).mean()) if p == 0 else np.mean(v**p) ** (1 / p) for v in shifted])
    return found


def _plain_grid(items: Items, exponents: range, coefficient: str) -> tuple[float, np.ndarray]:
    """One call of scipy per cell: the seconds spent in it (rounding left out, which a plain loop would not do) and the cells."""
    judge = _scipy(coefficient)
    spent, cells = 0.0, np.empty((len(exponents), len(W_GRID)))
    for row, k in enumerate(exponents):
        for column, w in enumerate(W_GRID):
            combined = w * items.scores + (1 - w) * items.aggregates[k]
            if coefficient != "pearson":
                combined = np.array([float(f"{value:.10g}") for value in combined])
            seconds, found = _timed(lambda combined=combined: judge(combined, items.human))
            spent += seconds
            cells[row, column] = found[0]
    return spent, cells


def _plain_permute(pair: Pair, level: str, coefficient: str, count: int) -> list[float]:
    """Swap, correlate, repeat."""
    judge, rng = _scipy(coefficient), np.random.default_rng(1)

    def value(scores: np.ndarray) -> float:
        if level == "segment":
            return judge(scores.ravel(), pair.human.ravel())[0]
        if level == "system":
            return judge(scores.mean(axis=1), pair.human.mean(axis=1))[0]
        return float(np.mean([judge(scores[:, k], pair.human[:, k])[0] for k in range(scores.shape[1])]))

    found = []
    for _ in range(count):
        swapped = rng.integers(0, 2, (SYSTEMS, 1)) != rng.integers(0, 2, (1, INPUTS))
        first = np.where(swapped, pair.original, pair.boosted)
        found.append(value(first) - value(np.where(swapped, pair.boosted, pair.original)))
    return found


def _scipy(coefficient: str) -> Callable:
    import scipy.stats

    return {"kendall": scipy.stats.kendalltau, "spearman": scipy.stats.spearmanr, "pearson": scipy.stats.pearsonr}[coefficient]


if __name__ == "__main__":
    main()
