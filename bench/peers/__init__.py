"""SwarmKV beside llama-server and llama-batched-bench; bench/peers.py is the command."""
