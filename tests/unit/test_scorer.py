"""The scorer: each thing scored once, in good order, stored as it goes, stopped and resumed."""

import itertools
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from fake_metrics import Length, Ratio, length, make_segments

from engine.corpus.types import Corpus, Segment
from engine.errors import Cancelled
from engine.scoring.batches import Pace, plan_batches
from engine.scoring.scorer import Scored, Scorer
from engine.scoring.store import Store
from engine.scoring.systems import score_systems

ROOT = Path(__file__).resolve().parents[2]


def test_duplicates_are_scored_once_and_in_the_order_asked():
    metric, segments = Length(), make_segments(50)
    asked = [segments[i] for i in np.random.default_rng(1).integers(0, 50, size=400)]
    scores = Scorer().segment_scores(metric, asked)
    assert scores == pytest.approx([length(item) for item in asked])
    assert len(metric.asked) == len(set(metric.asked)) == len(set(asked))


def test_what_cannot_be_scored_is_nan_and_never_asked():
    segments = [Segment(None, ("r",), None), Segment(None, (), "h"), Segment(None, ("r",), "h"), Segment(None, ("r",), None)]
    metric = Length()
    assert np.isnan(Scorer().statistics(metric, segments)[:, 0]).tolist() == [True, True, False, True]
    assert metric.asked == [segments[2]]


def test_nothing_to_score_keeps_the_width():
    assert Scorer().statistics(Ratio(), []).shape == (0, 2)
    assert Scorer().statistics(Ratio(), [Segment(None, (), "h")] * 3).shape == (3, 2)


def test_a_source_is_needed_where_the_metric_says_so():
    metric = Length(needs_source=True, needs_reference=False)
    scores = Scorer().segment_scores(metric, [Segment(None, (), "abc"), Segment("s", (), "abc")])
    assert np.isnan(scores[0]) and scores[1] == 3


def test_the_store_answers_the_second_time():
    store, segments = Store(":memory:"), make_segments(300)
    first, second = Length(), Length()
    want = Scorer(store).statistics(first, segments)
    assert np.array_equal(Scorer(store).statistics(second, segments), want)
    assert len(first.asked) == 300 and not second.calls
    third = Length()
    more = make_segments(300) + make_segments(20, seed=5)
    assert Scorer(store).segment_scores(third, more) == pytest.approx([length(item) for item in more])
    assert len(third.asked) == 20


def test_variants_are_kept_only_for_slow_metrics():
    store, segments = Store(":memory:"), make_segments(10)
    quick, slow = Length(), Length(slow=True, signature="slow")
    for metric in (quick, slow):
        for _ in range(2):
            Scorer(store).statistics(metric, segments, keep=False)
    assert len(quick.asked) == 20 and len(slow.asked) == 10
    assert not store.get_statistics(quick.spec.key, segments).found.any()


def test_metrics_with_one_statistics_key_share_the_work():
    store, segments = Store(":memory:"), make_segments(10)
    one, two = Length(signature="f1", statistics_key="all"), Length(signature="precision", statistics_key="all")
    Scorer(store).statistics(one, segments)
    Scorer(store).statistics(two, segments)
    assert not two.calls


def test_batches_respect_the_limit_and_start_small():
    metric = Length(batch_size=16)
    Scorer().statistics(metric, make_segments(500))
    sizes = [len(call) for call in metric.calls]
    assert sizes[0] <= 8 and max(sizes) <= 16 and sum(sizes) == 500
    assert np.mean(sizes[3:-1]) > 12


def test_slow_metrics_get_batches_of_less_than_a_second():
    metric = Length(delay=0.02, batch_size=4096)
    times, start = [], time.perf_counter()
    Scorer().statistics(metric, make_segments(150), lambda *_: times.append(time.perf_counter() - start))
    assert np.max(np.diff(times)) < 1.0
    assert len(metric.calls) < 20


def test_the_pace_is_remembered():
    scorer, metric = Scorer(), Length()
    scorer.statistics(metric, make_segments(400))
    metric.calls.clear()
    scorer.statistics(metric, make_segments(400, seed=2))
    assert len(metric.calls[0]) == 64


def test_one_odd_batch_does_not_upset_the_pace():
    pace, plan = Pace(), plan_batches(make_segments(1000))
    budget = pace.next_budget(plan)
    pace.learn(budget, 10.0)  # loading the model
    assert pace.budget == pytest.approx(budget / 4)
    for _ in range(8):
        pace.learn(pace.budget, pace.budget / 10_000)
    assert pace.budget == pytest.approx(6000)
    pace.learn(60, 0.05)  # a single segment is slow for its size and says little
    assert pace.budget == pytest.approx(6000)


def test_segments_that_share_a_text_stay_together():
    rng = np.random.default_rng(3)
    segments = []
    for group in range(30):
        reference, outputs = f"reference {group} " * 3, [f"output {group} of {name} " * 3 for name in "abc"]
        segments += [Segment(None, (reference,), text) for text in outputs]
        segments += [Segment(None, (reference,), f"{text}{k}") for text in outputs for k in range(6)]
        segments += [Segment(None, (f"{reference}{k}",), text) for text in outputs for k in range(6)]
    shuffled = [segments[i] for i in rng.permutation(len(segments))]
    plan = plan_batches(shuffled)
    ordered = [shuffled[i] for i in plan.order]
    groups = [item.references[0].split()[1] for item in ordered]
    # the variants of an output hang together through their reference, those of a reference through their outputs
    runs = 1 + sum(a != b for a, b in itertools.pairwise(groups))
    assert runs == plan.edges.sum() - 1 == 30
    distinct = {text for item in segments for text in (*item.references, item.hypothesis)}
    assert plan.costs[-1] == pytest.approx(16 * len(segments) + sum(map(len, distinct)))


def test_groups_come_in_order_of_length_and_are_not_cut():
    sizes = {"x": 90, "y": 30, "z": 60}
    segments = [Segment(None, (name * size,), f"{k}" * size) for name, size in sizes.items() for k in range(10)]
    plan = plan_batches(segments)
    assert [len(segments[i].references[0]) for i in plan.order] == [30] * 10 + [60] * 10 + [90] * 10
    assert plan.end(0, 1e9, 17) == 10  # not in the middle of the second group
    assert plan.end(0, 1e9, 25) == 20
    assert plan.end(10, 1.0, 25) == 11  # at least one
    assert plan.end(10, 1e9, 5) == 15  # a group that is too long for a batch is cut


def test_texts_of_a_few_letters_do_not_tie_everything_together():
    segments = [Segment(None, (f"a long reference, number {i}",), "Yes.") for i in range(20)]
    assert plan_batches(segments).edges.all()


def test_odd_segments_can_be_planned():
    plan = plan_batches([Segment(None, (), None), Segment("", ("", ""), ""), Segment("\ud800", ("\x00",), "x" * 100_000)])
    assert sorted(plan.order.tolist()) == [0, 1, 2]
    assert len(plan_batches([]).order) == 0


def test_progress_grows_to_the_end():
    seen = []
    Scorer().statistics(Length(), make_segments(500), lambda done, total: seen.append((done, total)))
    done = [item[0] for item in seen]
    assert seen[0] == (0, 500) and seen[-1] == pytest.approx((500, 500)) and done == sorted(done)


def test_cancelled_work_is_kept_and_resumed():
    store, segments = Store(":memory:"), make_segments(500)

    def stop(done, total):
        if done > 200:
            raise Cancelled

    first, second = Length(), Length()
    with pytest.raises(Cancelled):
        Scorer(store).statistics(first, segments, stop)
    scores = Scorer(store).segment_scores(second, segments)
    assert scores == pytest.approx([length(item) for item in segments])
    assert 0 < len(first.asked) < 500 and len(first.asked) + len(second.asked) == 500


def test_a_metric_of_the_wrong_shape_is_named():
    metric = Length()
    metric.statistics = lambda segments: np.zeros(len(segments))
    with pytest.raises(ValueError, match="length gave statistics of shape"):
        Scorer().statistics(metric, make_segments(3))


def test_changed_statistics_under_an_old_signature_are_refused():
    store, segments = Store(":memory:"), make_segments(20)
    Scorer(store).statistics(Length(), segments[:10])
    changed = Ratio()
    changed.spec = Length().spec
    with pytest.raises(ValueError, match="signature"):
        Scorer(store).statistics(changed, segments)


def test_another_executor_gives_the_same():
    class Backwards:
        """Takes three batches before it answers, the last one first."""

        def run(self, metric, batches):
            waiting = []
            for batch in batches:
                waiting.append(batch)
                if len(waiting) == 3:
                    yield from (Scored(item, metric.statistics(item.segments), 0.01) for item in waiting[::-1])
                    waiting = []
            yield from (Scored(item, metric.statistics(item.segments), 0.01) for item in waiting[::-1])

    segments = make_segments(333)
    found = Scorer(Store(":memory:"), Backwards()).segment_scores(Length(), segments)
    assert found == pytest.approx([length(item) for item in segments])


def test_two_threads_share_one_scorer(tmp_path):
    store, segments = Store(tmp_path / "store.sqlite"), make_segments(2000)
    scorer, metric, results = Scorer(store), Length(), {}

    def work(name, part):
        results[name] = scorer.segment_scores(metric, part)

    parts = {"a": segments[:1500], "b": segments[500:]}
    threads = [threading.Thread(target=work, args=item) for item in parts.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name, part in parts.items():
        assert results[name] == pytest.approx([length(item) for item in part])
    assert store.notice is None and store.get_statistics(metric.spec.key, segments).found.all()


SLOW_RUN = """
import sys
sys.path[:0] = [{root!r}, {tests!r}]
from engine.scoring.scorer import Scorer
from engine.scoring.store import Store
from fake_metrics import Length, make_segments
metric = Length(delay={delay})
Scorer(Store({path!r})).statistics(metric, make_segments({count}), lambda done, total: print(done, flush=True))
print("asked", len(metric.asked), flush=True)
"""


def run_slowly(path, delay, count):
    code = SLOW_RUN.format(root=str(ROOT), tests=str(Path(__file__).parent), path=str(path), delay=delay, count=count)
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)


def test_a_killed_run_resumes(tmp_path):
    path, count = tmp_path / "store.sqlite", 400
    run = run_slowly(path, 0.01, count)
    for line in run.stdout:
        if float(line) > count / 4:
            break
    run.send_signal(signal.SIGKILL)
    run.wait()
    stored = int(Store(path).get_statistics(Length().spec.key, make_segments(count)).found.sum())
    assert count / 4 < stored < count
    again = run_slowly(path, 0.0, count)
    assert int(again.communicate()[0].split()[-1]) == count - stored
    metric, segments = Length(), make_segments(count)
    assert Scorer(Store(path)).segment_scores(metric, segments) == pytest.approx([length(item) for item in segments])
    assert not metric.calls


def test_two_processes_share_one_file(tmp_path):
    path, count = tmp_path / "new folder" / "store.sqlite", 1500
    runs = [run_slowly(path, 0.0005, count) for _ in range(2)]
    asked = [int(run.communicate(timeout=120)[0].split()[-1]) for run in runs]
    assert all(run.returncode == 0 for run in runs) and all(0 <= number <= count for number in asked)
    store, segments = Store(path), make_segments(count)
    found = store.get_statistics(Length().spec.key, segments)
    assert store.notice is None and found.found.all()
    assert found.statistics[:, 0] == pytest.approx([length(item) for item in segments])


def corpus():
    return Corpus(
        name="c",
        systems={"one": ("aaaa", "bbbbbb", "cc", None, "dd"), "two": ("a", "b", "c", "d", None)},
        references=(("rrrr",), ("rrr",), ("",), ("rr",), (None,)),
    )


def test_system_scores():
    metrics = [Ratio(), Length(needs_reference=False)]
    found = score_systems(corpus(), metrics, Scorer(), resamples=400, seed=3)
    frame = found.to_frame()
    assert list(frame.columns) == ["system", "metric", "score", "low", "high", "n", "signature"]
    one = found.row("ratio", "one")
    assert (one.score, one.n) == (pytest.approx(10 / 7), 2)
    assert one.low <= one.score <= one.high
    assert one.undefined == {
        "the metric gives no value for these texts": 1,
        "the system has no output for this segment": 1,
        "the segment has no reference": 1,
    }
    assert one.notes == ("longest output 6",)
    assert found.row("length", "two").n == 4 and found.statistics["length"]["two"].shape == (5, 1)
    assert found.undefined_frame()["count"].sum() == 3 + 1 + 2 + 1
    with pytest.raises(KeyError):
        found.row("ratio", "three")


def test_segment_frame():
    frame = score_systems(corpus(), [Ratio()], Scorer(), resamples=0).segment_frame(with_reasons=True)
    assert list(frame.columns) == ["segment", "system", "metric", "score", "reason"]
    assert frame["segment"].tolist() == [0, 1, 2, 3, 4] * 2 and frame["system"].tolist() == ["one"] * 5 + ["two"] * 5
    assert frame["score"][0] == 1.0 and np.isnan(frame["score"][2])
    assert frame["reason"].isna().tolist() == [True, True, False, False, False, True, True, False, True, False]


def test_intervals_are_those_of_a_plain_bootstrap():
    texts = tuple("x" * int(k) for k in np.random.default_rng(5).integers(1, 50, size=200))
    many = Corpus(name="c", systems={"s": texts}, references=(("r" * 10,),) * 200)
    found = score_systems(many, [Length(), Ratio()], Scorer(), resamples=2000, seed=7)
    lengths = np.array([len(text) for text in texts])
    draws = np.random.default_rng(7).integers(0, 200, size=(2000, 200))
    means = lengths[draws].mean(axis=1)
    length_row, ratio_row = found.row("length", "s"), found.row("ratio", "s")
    assert (length_row.low, length_row.high) == pytest.approx(np.quantile(means, [0.025, 0.975]) + 0.01)
    assert (ratio_row.low, ratio_row.high) == pytest.approx(np.quantile(means / 10, [0.025, 0.975]))


def test_too_few_segments_have_no_interval_and_say_so():
    one = Corpus(name="c", systems={"s": ("abc",), "none": (None,)}, references=(("r",),))
    found = score_systems(one, [Length()], Scorer())
    row, none = found.row("length", "s"), found.row("length", "none")
    assert row.score == pytest.approx(3.001) and np.isnan(row.low) and "too few" in row.notes[0]
    assert np.isnan(none.score) and none.n == 0 and none.notes == ("no segment has a score",)


def test_a_corpus_without_segments_or_metrics():
    empty = Corpus(name="c", systems={"s": ()}, references=())
    assert score_systems(empty, [Length()], Scorer()).row("length", "s").n == 0
    assert score_systems(corpus(), [], Scorer()).to_frame().empty
    assert score_systems(Corpus(name="c", systems={}), [Length()], Scorer()).segment_frame().empty


def test_any_name_of_a_system_will_do():
    odd = Corpus(name="c", systems={"sys\udcff": ("a", None)}, references=(("r",), ("r",)))
    found = score_systems(odd, [Length()], Scorer())
    frames = found.to_frame(), found.segment_frame(with_reasons=True), found.undefined_frame()
    assert all(set(frame["system"]) == {"sys\udcff"} for frame in frames)


def test_scoring_systems_reports_progress_and_stops():
    seen = []
    score_systems(corpus(), [Length(), Ratio()], Scorer(), progress=lambda done, total: seen.append(done / total))
    assert seen == sorted(seen) and seen[-1] == 1.0

    def stop(done, total):
        raise Cancelled

    with pytest.raises(Cancelled):
        score_systems(corpus(), [Length()], Scorer(), progress=stop)
