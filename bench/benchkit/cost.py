"""How long a measurement will take: a rough model, so that a plan can be printed before anything runs.

The constants are those of SmolLM2-135M Q4_1 on two slow cores; `slower` scales them to the machine and model at hand.
"""

_PREFILL_MS, _PREFILL_GROWTH_MS = 4.5, 0.00113  # a token; and for each token in front of it
_STEP_MS, _ROW_MS, _ROW_GROWTH_MS = 14.0, 2.2, 0.0077  # a decode step; a row of it; and for each token the row sees
START_MS = 1500  # a process: starting, loading the model, making a context


class Cost:
    def __init__(self, slower=1.0):
        self.slower = slower

    def corrected(self, estimated_ms, measured_ms):
        """The model after something took `measured_ms` instead of `estimated_ms`; slower at most, never faster."""
        return Cost(self.slower * max(1.0, measured_ms / estimated_ms)) if estimated_ms > 0 else self

    def prefill_ms(self, n_tokens):
        return self.slower * n_tokens * (_PREFILL_MS + _PREFILL_GROWTH_MS * n_tokens)

    def suffix_ms(self, n_tokens, behind):
        return self.slower * n_tokens * (_PREFILL_MS + 2 * _PREFILL_GROWTH_MS * behind)

    def decode_ms(self, n_rows, behind, n_steps):
        return self.slower * n_steps * (_STEP_MS + n_rows * (_ROW_MS + _ROW_GROWTH_MS * behind))

    def one_after_another_ms(self, n_agents, document, suffix, n_steps):
        """Each agent reads the whole document."""
        branch = self.suffix_ms(suffix, document) + self.decode_ms(1, document, n_steps)
        return n_agents * (self.prefill_ms(document) + branch)

    def copied_ms(self, n_agents, document, suffix, n_steps):
        """The document once, then each agent alone on a copy."""
        branch = self.suffix_ms(suffix, document) + self.decode_ms(1, document, n_steps)
        return self.prefill_ms(document) + n_agents * branch

    def together_ms(self, n_agents, document, suffix, n_steps):
        """The document once, then all agents in one batch."""
        return (
            self.prefill_ms(document)
            + self.suffix_ms(n_agents * suffix, document)
            + self.decode_ms(n_agents, document, n_steps)
        )
