"""Programs that behave like llama's own and like ours, for tests of the tools in bench/."""

import pathlib
import sys
import textwrap

SERVER = '''\
    """Answers chat requests like llama-server. Slots keep the prompts they have seen."""
    import argparse, http.server, json, os, pathlib, threading, time
    parser = argparse.ArgumentParser()
    for flag in ("--host", "--port", "--api-key", "-c", "-np", "-t", "-tb", "-ub", "-m"):
        parser.add_argument(flag)
    for flag in ("-kvu", "--offline", "--no-ui"):
        parser.add_argument(flag, action="store_true")
    given = parser.parse_args()
    mode = os.environ.get("STAND_IN_MODE", "")
    pathlib.Path(os.environ["STAND_IN_PIDS"]).open("a").write(f"{os.getpid()}\\n")
    seen = []

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def allowed(self):
            if self.headers.get("Authorization") == "Bearer " + given.api_key:
                return True
            self.send_error(401)
            return False

        def do_GET(self):
            if self.allowed():
                self.answer(b"{}", "application/json")

        def answer(self, body, kind):
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if not self.allowed():
                return
            if mode == "hang":
                time.sleep(600)
            if mode == "refuse":
                self.send_error(500)
                return
            assert asked["ignore_eos"] and asked["stream"] and asked["temperature"] == 0, asked
            words = len(asked["messages"][0]["content"].split())
            cached = words - 5 if len(seen) >= int(given.np) else 0
            seen.append(words)
            n = asked["n_predict"]
            if mode == "short":
                n -= 1
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            events = [{"choices": [{"delta": {"role": "assistant", "content": None}}]}]
            events += [{"choices": [{"delta": {"content": "x "}}]} for _ in range(n)]
            events += [{"choices": [{"delta": {}, "finish_reason": "length"}],
                        "timings": {"prompt_n": words - cached, "cache_n": cached, "predicted_n": n}}]
            for event in events:
                time.sleep(0.002)
                self.wfile.write(b"data: " + json.dumps(event).encode() + b"\\n\\n")
                self.wfile.flush()
            self.wfile.write(b"data: [DONE]\\n\\n")
            self.close_connection = True

    http.server.ThreadingHTTPServer((given.host, int(given.port)), Handler).serve_forever()
'''

BENCH = '''\
    """Prints the line llama-batched-bench prints. A row decodes at 1000 tokens a second."""
    import argparse, json, os, sys
    if "STAND_IN_LOG" in os.environ:
        with open(os.environ["STAND_IN_LOG"], "a") as log:
            print("batched-bench", *sys.argv[1:], file=log)
    parser = argparse.ArgumentParser()
    for flag in ("-npp", "-ntg", "-npl", "-c", "-t", "-tb", "-ub", "-fa", "-m", "--output-format"):
        parser.add_argument(flag)
    for flag in ("-pps", "-kvu"):
        parser.add_argument(flag, action="store_true")
    given = parser.parse_args()
    assert given.pps and given.kvu and given.output_format == "jsonl"
    if os.environ.get("STAND_IN_MODE") == "judge fails at 2" and given.npl == "2":
        sys.exit("no room in the cache")
    print()
    print(json.dumps({"pp": int(given.npp), "tg": int(given.ntg), "pl": int(given.npl), "t": 1.0, "speed_pp": 100.0,
                      "speed_tg": 1000.0 * int(given.npl)}))
'''


def program(folder, name, body):
    """Writes an executable Python program and returns its path."""
    path = pathlib.Path(folder) / name
    path.write_text(f"#!{sys.executable}\n" + textwrap.dedent(body), encoding="utf-8")
    path.chmod(0o755)
    return path


SWARMKV = '''\
    """Understands `version` and `bench` as bench/campaign.py uses them, and prints made-up samples."""
    import argparse, json, os, sys, time
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.environ["STAND_IN_TESTS"])
    import samples
    if sys.argv[1] == "version":
        print("swarmkv 0.0.0 (stand-in)")
        sys.exit(0)
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["bench"])
    parser.add_argument("scenario", nargs="?")
    for flag in ("-f", "--arms", "-o", "-m", "--engine"):
        parser.add_argument(flag)
    for flag in ("-npp", "-npl"):
        parser.add_argument(flag)
    for flag in ("-ntg", "--suffix-tokens", "-r", "--seed", "-t", "-tb"):
        parser.add_argument(flag, type=int)
    parser.add_argument("-q", action="store_true")
    given = parser.parse_args()
    assert given.q and given.o == "jsonl" and given.r == 1 and (given.scenario or given.f or given.npp), given
    with open(os.environ["STAND_IN_LOG"], "a") as log:
        print(given.scenario or given.f or given.npp, given.npl, given.arms, file=log)
    with open(os.environ["STAND_IN_LOG"]) as log:
        trial = len(log.readlines())  # only makes each call's figures differ a little
    lengths = [3501] if given.scenario else [int(n) for n in given.npp.split(",")] if given.npp else [3684]
    mode = os.environ.get("STAND_IN_MODE", "")
    for n_document in lengths:
        for n_agents in map(int, given.npl.split(",")):
            for position, arm in enumerate(given.arms.split(",")):
                case = dict(arm=arm, n_document=n_document, n_agents=n_agents, n_output=given.ntg, trial=trial)
                if mode == "device fails" and arm == "device":
                    line = samples.failed(error="[handoff] the device keeps no state", position=position, **case)
                else:
                    line = samples.sample(position=position, **case)
                if mode == "crash on snapshot" and arm == "snapshot":
                    sys.exit("boom: it crashed")
                if mode == "hang on snapshot" and arm == "snapshot":
                    time.sleep(600)
                print(json.dumps(line), flush=True)
'''

MICRO = '''\
    """Prints what swarmkv_micro prints of the machine: 20 GB/s at best, 200 GFLOP/s."""
    import json
    runs = [("machine_read/256/real_time", "s_per_byte", s / 1e9) for s in (0.05, 0.06)]
    runs += [("machine_read/1024/real_time", "s_per_byte", 0.08 / 1e9)]
    runs += [("machine_multiply_add/real_time", "s_per_flop", s / 1e9) for s in (0.006, 0.005)]
    lines = [{"name": name, "run_type": "iteration", counter: value} for name, counter, value in runs]
    lines += [{"name": "machine_read/256/real_time_mean", "run_type": "aggregate", "s_per_byte": 1e-15}]
    print(json.dumps({"benchmarks": lines}))
'''

QUANTIZE = '''\
    """Copies, like llama-quantize in how it is called."""
    import os, pathlib, sys
    assert sys.argv[1] == "--allow-requantize" and sys.argv[4] == "Q8_0", sys.argv
    pathlib.Path(sys.argv[3]).write_text("half")
    if os.environ.get("STAND_IN_MODE") == "quantize fails":
        sys.exit("no such tensor")
    pathlib.Path(sys.argv[3]).write_text("made of " + pathlib.Path(sys.argv[2]).read_text())
'''
