"""llama-server on loopback: started cold, asked by N clients at once, ended in all cases."""

import contextlib
import http.client
import json
import pathlib
import secrets
import socket
import threading
import time

from benchkit import child

# No answer of ours is longer than a few thousand tokens; this only bounds a server gone wrong.
LARGEST_ANSWER = 16 << 20


class ServerFailed(Exception):
    """The server or a request did not do what it should; the message says what."""


class Server:
    """One llama-server process. Use as a context manager."""

    def __init__(self, program, flags, log, start_timeout_s=300):
        self.program, self.flags, self.log = program, flags, pathlib.Path(log)
        self.start_timeout_s = start_timeout_s
        self.key = secrets.token_hex(16)  # whoever else sits on that port does not know it
        self.process = None
        self.port = None

    def __enter__(self):
        last = ""
        for _ in range(3):  # a free port may be taken before the server binds it
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.port = probe.getsockname()[1]
            with open(self.log, "wb") as out:
                self.process = child.start(
                    [self.program, "--host", "127.0.0.1", "--port", self.port, "--api-key", self.key, *self.flags],
                    stdout=out,
                    stderr=out,
                )
            try:
                if self._ready():
                    return self
            except BaseException:
                child.stop(self.process)
                raise
            last = self.tail()
            child.stop(self.process)
        raise ServerFailed(f"llama-server did not start: {last}")

    def __exit__(self, *_):
        child.stop(self.process)

    def _ready(self):
        end = time.monotonic() + self.start_timeout_s
        while time.monotonic() < end:
            if self.process.poll() is not None:
                return False
            with contextlib.suppress(OSError, http.client.HTTPException):
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
                connection.request("GET", "/v1/models", headers=self._headers())  # needs our key, unlike /health
                if connection.getresponse().status == 200:
                    return True
            time.sleep(0.05)
        return False

    def _headers(self):
        return {"Authorization": "Bearer " + self.key, "Content-Type": "application/json"}

    def tail(self):
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return " / ".join(lines[-3:]) or "it printed nothing"

    def wave(self, contents, n_predict, timeout_s):
        """Sends one chat request for each of `contents` at the same moment and waits for all.

        Returns (wall_ms, [answer]); an answer holds sent, first, last (ms from the start of the wave), timings.
        """
        start = threading.Barrier(len(contents) + 1)
        answers = [None] * len(contents)
        # One deadline for the wave, so that a server that trickles cannot hold us for longer.
        clock = {}

        def ask(i):
            start.wait()
            try:
                answers[i] = self._ask(contents[i], n_predict, clock["zero"], timeout_s)
            except (OSError, http.client.HTTPException, ValueError, ServerFailed) as error:
                answers[i] = {"error": f"{type(error).__name__}: {error}"}

        threads = [threading.Thread(target=ask, args=(i,), daemon=True) for i in range(len(contents))]
        for thread in threads:
            thread.start()
        clock["zero"] = time.monotonic()
        start.wait()
        for thread in threads:
            thread.join(max(0.0, clock["zero"] + timeout_s + 10 - time.monotonic()))
        failed = [a["error"] if a else "no answer in time" for a in answers if not a or "error" in a]
        if failed:
            raise ServerFailed(f"{len(failed)} of {len(contents)} requests failed, the first: {failed[0]}")
        return max(answer["last_ms"] for answer in answers), answers

    def _ask(self, content, n_predict, zero, timeout_s):
        body = json.dumps(
            {
                "messages": [{"role": "user", "content": content}],
                "stream": True,
                "max_tokens": n_predict,
                "n_predict": n_predict,
                "ignore_eos": True,
                "temperature": 0,
                "cache_prompt": True,
            }
        )
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout_s)
        with contextlib.closing(connection):
            sent = time.monotonic()
            connection.request("POST", "/v1/chat/completions", body, self._headers())
            response = connection.getresponse()
            if response.status != 200:
                raise ServerFailed(f"status {response.status}: {response.read(500).decode(errors='replace')}")
            return read_stream(response, sent, zero, zero + timeout_s, n_predict)


def read_stream(lines, sent, zero, deadline, n_predict):
    """Reads one answer as server-sent events; the times of its first and last text are taken here."""
    first = last = timings = None
    size = 0
    while line := lines.readline(1 << 20):
        now = time.monotonic()
        size += len(line)
        if size > LARGEST_ANSWER or now > deadline:
            raise ServerFailed("the answer did not end in time" if now > deadline else "the answer is too long")
        if not line.startswith(b"data: ") or line.startswith(b"data: [DONE]"):
            continue
        event = json.loads(line[6:])
        if "error" in event:
            raise ServerFailed(f"error in the stream: {event['error']}")
        timings = event.get("timings") or timings
        delta = (event.get("choices") or [{}])[0].get("delta") or {}
        if delta.get("content") or delta.get("reasoning_content"):
            first = first or now
            last = now
    if first is None or timings is None:
        raise ServerFailed("the answer holds no text" if first is None else "the answer holds no timings")
    if timings["predicted_n"] != n_predict:
        raise ServerFailed(f"{timings['predicted_n']} tokens came, {n_predict} were asked for")
    return {
        "sent_ms": (sent - zero) * 1000,
        "first_ms": (first - zero) * 1000,
        "last_ms": (last - zero) * 1000,
        "timings": timings,
    }


def sample(wall_ms, answers):
    """The sample of one wave, in the words of peers/swarm.py."""
    timings = [answer["timings"] for answer in answers]
    return {
        "wall_ms": wall_ms,
        "prompt_asked": sum(t["prompt_n"] + t["cache_n"] for t in timings),
        "prompt_computed": sum(t["prompt_n"] for t in timings),
        "first_ms": [answer["first_ms"] - answer["sent_ms"] for answer in answers],
        "rates": [
            (t["predicted_n"] - 1) / max(1e-9, (answer["last_ms"] - answer["first_ms"]) / 1000)
            for t, answer in zip(timings, answers)
        ],
        "completion_tokens": sum(t["predicted_n"] for t in timings),
        "timings": timings,
    }
