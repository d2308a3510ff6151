"""Background jobs: states, cancelling, remaining time, queueing, and what a tray keeps."""

import logging
import threading
import time

import pytest
from fake_metrics import Length, make_segments

from engine.errors import Cancelled, InputError
from engine.scoring.jobs import Clock, Job, JobTray, Slots
from engine.scoring.scorer import Scorer


def until(condition, seconds=5.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.005)


def count_to(total, pause=0.0):
    def work(progress):
        for step in range(total):
            progress(step, total)
            time.sleep(pause)
        progress(total, total)
        return total

    return work


class Gate:
    """Work that reports progress until it is let go."""

    def __init__(self):
        self.open = threading.Event()
        self.began = threading.Event()

    def __call__(self, progress):
        self.began.set()
        while not self.open.wait(0.005):
            progress(1, 10)
        return "through"


def test_a_job_that_is_done():
    job = Job.start(count_to(50), "counting")
    assert job.wait(5) and job.state == "done" and job.result == 50 and job.error is None
    done, total, remaining = job.progress
    assert (done, total, remaining) == (50, 50, None) and job.progress.share == 1.0
    elapsed = job.elapsed_s
    time.sleep(0.02)
    assert job.elapsed_s == elapsed > 0


def test_a_fault_that_the_user_can_mend():
    def work(progress):
        raise InputError("a.tsv:3: no tab; use tabs")

    job = Job.start(work)
    job.wait(5)
    assert (job.state, job.error, job.result) == ("failed", "a.tsv:3: no tab; use tabs", None)


def test_an_unexpected_fault_is_logged_and_short(caplog):
    def work(progress):
        raise KeyError("x" * 2000 + "\nsecond line")

    with caplog.at_level(logging.ERROR, "plumbline"):
        job = Job.start(work, "odd")
        job.wait(5)
    assert job.state == "failed" and "KeyError" in job.error and len(job.error) < 400 and "\n" not in job.error
    assert "Traceback" in caplog.text and "second line" in caplog.text


@pytest.mark.parametrize("fault", [SystemExit(3), KeyboardInterrupt(), MemoryError()])
def test_nothing_escapes_the_thread(fault):
    def work(progress):
        raise fault

    job = Job.start(work)
    assert job.wait(5) and job.state == "failed" and type(fault).__name__ in job.error


def test_cancelling():
    gate = Gate()
    job = Job.start(gate)
    gate.began.wait(5)
    job.cancel()
    assert job.wait(1.0) and job.state == "cancelled" and job.result is None and not job.cancelling
    job.cancel()
    assert job.state == "cancelled"


def test_a_result_that_comes_after_the_wish_to_cancel_is_dropped():
    began, go = threading.Event(), threading.Event()

    def deaf(progress):
        began.set()
        go.wait(5)
        return 1

    job = Job.start(deaf)
    began.wait(5)
    job.cancel()
    assert job.cancelling and job.state == "running"
    go.set()
    assert job.wait(5) and job.state == "cancelled" and job.result is None


def test_work_that_cancels_itself():
    def work(progress):
        raise Cancelled

    job = Job.start(work)
    assert job.wait(5) and job.state == "cancelled" and job.error is None


def test_scoring_stops_within_a_second():
    metric = Length(delay=0.004, batch_size=4096)
    scorer = Scorer()
    job = Job.start(lambda progress: scorer.segment_scores(metric, make_segments(3000), progress))
    until(lambda: len(metric.calls) > 4, 10)
    start = time.monotonic()
    job.cancel()
    assert job.wait(5) and time.monotonic() - start < 1.0 and job.state == "cancelled"


def test_remaining_time_of_steady_work():
    clock = Clock()
    for step in range(21):
        clock.report(step / 100, float(step))
    assert clock.remaining(20.0) == pytest.approx(80.0)
    assert clock.remaining(25.0) == pytest.approx(75.0)  # counts down while nothing is reported
    assert clock.remaining(1000.0) == 0.0


def test_remaining_time_follows_a_change_of_pace_smoothly():
    clock, share, seen = Clock(), 0.0, []
    for step in range(400):
        share += 0.001 if step < 200 else 0.002
        clock.report(share, step * 0.2)
        seen.append(clock.remaining(step * 0.2))
    assert seen[199] == pytest.approx(0.8 / 0.005, rel=0.01)
    assert seen[205] > seen[399] and seen[205] > 0.7 * seen[199]
    assert seen[399] == pytest.approx((1 - share) / 0.01, rel=0.1)


def test_nothing_is_said_of_the_remaining_time_at_first():
    clock = Clock()
    assert clock.remaining(0.0) is None
    clock.report(0.0, 0.0)
    clock.report(0.01, 0.2)
    assert clock.remaining(0.2) is None
    clock.report(0.05, 1.0)
    assert clock.remaining(1.0) == pytest.approx(19.0)
    clock.report(0.0, 2.0)  # another step that counts from the start
    assert clock.remaining(2.0) is None


def test_a_jump_at_the_start_does_not_count_as_pace():
    clock = Clock()
    clock.report(0.9, 0.0)  # most was in the store
    for step in range(1, 11):
        clock.report(0.9 + step / 200, float(step))
    assert clock.remaining(10.0) == pytest.approx(10.0)


def test_a_running_job_says_how_long():
    job = Job.start(count_to(400, 0.004))
    time.sleep(1.2)
    done, total, remaining = job.progress
    assert 0 < done < total == 400 and remaining is not None and 0 < remaining < 30
    job.cancel()
    job.wait(5)


def test_the_same_key_is_the_same_job():
    tray, gate = JobTray(Slots(2)), Gate()
    first = tray.start("explain", gate, key=("explain", 1))
    assert tray.start("explain", count_to(3), key=("explain", 1)) is first
    assert tray.start("other", gate, key=("explain", 2)) is not first
    gate.open.set()
    assert first.wait(5) and tray.get(("explain", 1)) is first
    again = tray.start("explain", count_to(3), key=("explain", 1))
    assert again is not first and tray.get(("explain", 1)) is again and len(tray.list()) == 2


def test_jobs_without_a_key_are_all_different():
    tray = JobTray(Slots(2))
    assert tray.start("a", count_to(1)) is not tray.start("a", count_to(1))


def test_a_cancelled_job_does_not_stand_in_the_way():
    tray, began, go = JobTray(Slots(2)), threading.Event(), threading.Event()

    def deaf(progress):
        began.set()
        go.wait(5)

    first = tray.start("a", deaf, key="a")
    began.wait(5)
    first.cancel()
    second = tray.start("a", count_to(2), key="a")
    assert second is not first and second.wait(5) and second.state == "done"
    go.set()


def test_only_so_many_run_at_once_and_in_order():
    tray, order, running, most = JobTray(Slots(2)), [], [], []
    lock = threading.Lock()

    def numbered(number):
        def work(progress):
            with lock:
                order.append(number)
                running.append(number)
                most.append(len(running))
            time.sleep(0.02)
            with lock:
                running.remove(number)

        return work

    jobs = [tray.start("n", numbered(number)) for number in range(8)]
    assert all(job.wait(5) for job in jobs)
    assert max(most) == 2 and sorted(order) == list(range(8))
    assert all(abs(place - number) <= 1 for place, number in enumerate(order))


def test_waiting_jobs_can_be_cancelled_and_faults_free_the_slot():
    tray, gate = JobTray(Slots(1)), Gate()
    first = tray.start("first", gate)
    gate.began.wait(5)

    def fail(progress):
        raise RuntimeError

    second, third, fourth = tray.start("second", count_to(1)), tray.start("third", fail), tray.start("fourth", count_to(4))
    assert second.waiting and second.state == "running" and second.elapsed_s == 0 and second.progress == (0, 0, None)
    second.cancel()
    assert second.state == "cancelled" and second.wait(0)
    gate.open.set()
    assert first.wait(5) and third.wait(5) and fourth.wait(5)
    assert (third.state, fourth.result) == ("failed", 4)


def test_two_trays_share_the_machine():
    slots, gate = Slots(1), Gate()
    one, two = JobTray(slots), JobTray(slots)
    first = one.start("a", gate)
    gate.began.wait(5)
    second = two.start("b", count_to(1))
    assert second.waiting and one.list() == [first] and two.list() == [second]
    gate.open.set()
    assert second.wait(5)


def test_a_tray_keeps_a_bounded_number_of_results():
    tray, gate = JobTray(Slots(2), keep=3), Gate()
    running = tray.start("running", gate, key="running")
    for number in range(6):
        tray.start("n", count_to(number), key=number).wait(5)
    assert [job.key for job in tray.list()] == [5, 4, 3, "running"]
    tray.clear_finished()
    assert tray.list() == [running]
    tray.remove("running")
    tray.remove("nothing")
    assert tray.list() == [] and running.wait(5) and running.state == "cancelled"


def test_cancelling_all():
    tray = JobTray(Slots(1))
    jobs = [tray.start("a", Gate()) for _ in range(3)]
    tray.cancel_all()
    assert all(job.wait(5) and job.state == "cancelled" for job in jobs)


def test_ended_work_is_let_go():
    import gc
    import weakref

    class Big:
        pass

    big = Big()
    watch = weakref.ref(big)
    job = Job.start(lambda progress, held=big: None)
    job.wait(5)
    del big
    until(lambda: gc.collect() is not None and watch() is None)


def test_many_starts_from_many_threads():
    tray, jobs = JobTray(Slots(2), keep=100), []

    def start():
        jobs.extend(tray.start("same", count_to(2), key=number % 5) for number in range(50))

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(job.wait(5) for job in jobs) and {job.state for job in jobs} == {"done"}
    assert len(tray.list()) == 5
