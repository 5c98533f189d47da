"""Decode speed of many agents beside llama-batched-bench; bench/decode.py is the command."""
