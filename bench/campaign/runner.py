"""Runs the steps of a campaign, keeps every line, and goes on where an earlier run stopped."""

import dataclasses
import json
import tempfile
import threading
import time

from benchkit import child, files, text
from campaign import plan, trials


@dataclasses.dataclass
class Runner:
    """`command_line(batch)` makes the arguments of the process; `say` prints progress."""

    folder: object
    command_line: object
    model: object  # benchkit.cost.Cost; corrected by what the batches really take
    say: object
    budget_s: float = None  # None: no limit
    retry_failed: bool = False

    def __post_init__(self):
        self.first_model = self.model
        self.path = self.folder / "trials.jsonl"
        self.trials = {}
        for entry in files.read_lines(self.path):
            trial = trials.from_entry(entry)
            if trial is not None and (trial.ok or not self.retry_failed):
                self.trials[trial.point, trial.trial, trial.arm] = trial

    def missing(self, step):
        return tuple(arm for arm in step.arms if (step.point.key, step.trial, arm) not in self.trials)

    def run(self, steps):
        """Runs what is not on disk yet; what does not fit into the time any more is left out, and shows as not run."""
        began = time.monotonic()
        todo = plan.batches(steps, self.missing)
        if self.trials:
            self.say(f"{text.count(len(self.trials), 'trial')} are on disk already")
        skipped, estimated_s = 0, 0.0
        for i, batch in enumerate(todo):
            fitting = self._fitting(batch, began)
            skipped += len(batch.points) - (len(fitting.points) if fitting else 0)
            if fitting is None:
                continue
            left = sum(plan.batch_s(self.model, later) for later in todo[i:])
            needed = plan.batch_s(self.model, fitting)
            self.say(
                f"{i + 1}/{len(todo)} {fitting.name}: {', '.join(fitting.arms)} (about {text.duration(needed)}; "
                f"all that is left about {text.duration(left)})"
            )
            self._run(fitting, timeout_s=10 * needed + 120)
            estimated_s += plan.batch_s(self.first_model, fitting)
            self.model = self.first_model.corrected(estimated_s, time.monotonic() - began)
        if skipped:
            self.say(
                f"{text.count(skipped, 'trial')} of a point did not fit into the time and are shown as not run; the "
                "same command runs them"
            )
        return list(self.trials.values())

    def _fitting(self, batch, began):
        """The batch without the largest points that would take too long; None if even the smallest would."""
        points = batch.points
        while points and self.budget_s is not None:
            batch = dataclasses.replace(batch, points=points)
            if time.monotonic() - began + plan.batch_s(self.model, batch) <= self.budget_s:
                break
            points = points[:-1]
        return batch if points else None

    def _run(self, batch, timeout_s):
        with tempfile.TemporaryFile() as errors:
            process = child.start(self.command_line(batch), stdout=child.PIPE, stderr=errors)
            late = threading.Event()

            def end():
                late.set()
                child.end_now(process)

            watchdog = threading.Timer(timeout_s, end)
            watchdog.daemon = True
            watchdog.start()
            try:
                for line in process.stdout:
                    self._take(batch, line)
                status = process.wait()
            finally:
                watchdog.cancel()
                child.stop(process)
            errors.seek(0)
            why = f"took longer than {timeout_s:.0f} s" if late.is_set() else f"swarmkv bench ended with {status}"
            said = errors.read()[-2000:].decode(errors="replace").strip().splitlines()
        for point in batch.points:
            for arm in batch.arms:
                if (point.key, batch.trial, arm) not in self.trials:
                    self._keep(batch, point, arm, {"error": ": ".join([why, *said[-1:]])})

    def _take(self, batch, line):
        try:
            value = json.loads(line)
        except ValueError:
            return
        arm = trials.arm_of(value)
        point = next((point for point in batch.points if trials.is_of(value, point)), None)
        if point is not None and arm in batch.arms:
            self._keep(batch, point, arm, {"line": value})

    def _keep(self, batch, point, arm, what):
        entry = {
            "shape": point.shape,
            "point": point.key,
            "trial": batch.trial,
            "arm": arm,
            "position": batch.arms.index(arm),
            "n_agents": point.n_agents,
            "n_predict": point.n_predict,
            **what,
        }
        files.append_line(self.path, entry)
        trial = trials.from_entry(entry)
        self.trials[trial.point, trial.trial, trial.arm] = trial
        if not trial.ok:
            self.say(f"{point.key}: {arm} {trial.status}: {trial.error}")
