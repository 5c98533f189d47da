"""Takes the samples, keeps each as soon as it is there, and goes on where an earlier call stopped."""

import time

from benchkit import files, text
from decode import arms, plan


class Runner:
    """`same`: what must not differ between kept samples; `digests`: {model: SHA-256 of its file, or None}."""

    def __init__(self, path, same, digests, measure, say):
        self.path, self.same, self.digests, self.measure, self.say = path, same, digests, measure, say
        self.done = {s["key"]: s for s in files.read_lines(path) if s.get("status") == "ok" and self._is_ours(s)}

    def _is_ours(self, sample):
        return sample.get("settings") == self.same and sample.get("digest") == self.digests.get(sample.get("model"))

    def keep(self, key, sample):
        """Puts a sample on disk and returns it."""
        whole = {"key": key, "settings": self.same, **sample}
        files.append_line(self.path, whole)
        return whole

    def once(self, key, take):
        """What `take` gave in the first of all calls, so that going on changes no figure."""
        return self.done.get(key) or self.keep(key, {"status": "ok", **take()})

    def run(self, points, turns, trials, budget_s):
        """(all samples, the trials that were run): fewer than `trials` if more would exceed the time."""
        began, samples = time.monotonic(), []
        for trial in range(trials):
            jobs = plan.trial_jobs(points, turns, trial)
            # A job takes as long as the same one took in the trial before.
            took = {(s["model"], s["prefix"], s["agents"], s["arm"]): s["took_s"] for s in samples}
            left_s = sum(took.get((*_place(job), job.arm), 0) for job in jobs if job.key not in self.done)
            if trial > 0 and budget_s is not None and left_s > 0 and time.monotonic() - began + left_s > budget_s:
                return samples, trial
            for number, job in enumerate(jobs, 1):
                samples.append(self.done.get(job.key) or self._sample(job, f"{trial + 1}, {number}/{len(jobs)}"))
        return samples, trials

    def _sample(self, job, number):
        began = time.monotonic()
        try:
            figures = {"status": "ok", **self.measure(job)}
        except arms.FAILURES as error:
            figures = {"status": "failed", "error": f"{type(error).__name__}: {error}"}
        model, prefix, n_agents = _place(job)
        which = {"model": model, "prefix": prefix, "agents": n_agents, "arm": job.arm, "trial": job.trial}
        which |= {"position": job.position, "took_s": time.monotonic() - began, "digest": self.digests[model]}
        state = figures.get("error") or f"{figures['decode_tok_s']:.1f} tok/s"
        took = text.duration(which["took_s"])
        self.say(f"trial {number}: {model} P={prefix} N={n_agents} {job.arm}: {state} ({took})")
        return self.keep(job.key, {**which, **figures})


def _place(job):
    return job.point.model, job.point.prefix, job.point.n_agents
