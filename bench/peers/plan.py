"""What is run, in which order, and how long that will take."""

import dataclasses

from benchkit import cost

SWARM, SERVER, CEILING = "SwarmKV", "llama-server", "llama-batched-bench"
COLD, SECOND = "cold", "second"


@dataclasses.dataclass(frozen=True)
class Job:
    """One process of one system. A server's job measures both waves, each of SwarmKV's measures its own."""

    system: str
    wave: str
    n_agents: int
    trial: int

    @property
    def key(self):
        return f"{self.system}/{self.wave}/{self.n_agents}/{self.trial}"


def jobs(agents, trials, server_limit, waves):
    """Trial by trial, so that what is lost by an interruption is a trial and not a system. Inside of a trial the
    systems take turns, and each trial begins with another one."""
    for trial in range(trials):
        for i, n_agents in enumerate(agents):
            turn = [Job(SWARM, COLD, n_agents, trial)]
            if SECOND in waves:
                turn.append(Job(SWARM, SECOND, n_agents, trial))
            if n_agents <= server_limit:
                turn.append(Job(SERVER, COLD, n_agents, trial))
            turn.append(Job(CEILING, COLD, n_agents, trial))
            first = (trial + i) % len(turn)
            yield from turn[first:] + turn[:first]


def estimate_s(job, document, suffix, n_predict, second_wave, model=None):
    """Seconds of one job, roughly."""
    model = model or cost.Cost()
    n = job.n_agents
    again = model.together_ms(n, document, suffix, n_predict) - model.prefill_ms(document)
    if job.system == SWARM:
        ms = model.together_ms(n, document, suffix, n_predict) + (again if job.wave == SECOND else 0)
    elif job.system == SERVER:
        ms = n * model.prefill_ms(document) + again + (2 * again if second_wave else 0)
    else:
        ms = model.prefill_ms(document) + model.decode_ms(n, document, n_predict)
    return (ms + cost.START_MS) / 1000
