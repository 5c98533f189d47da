# The short way to everything; each step is quick when there is nothing to do. `make help` lists it.
PREFIX ?= /usr/local
BUILD := build/release
SWARMKV_CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/swarmkv
CCACHE_DIR ?= $(SWARMKV_CACHE)/ccache
SWARMKV_CUDA ?= OFF
SWARMKV_LLAMA_DIR ?=
export SWARMKV_CACHE CCACHE_DIR SWARMKV_CUDA SWARMKV_LLAMA_DIR

.DEFAULT_GOAL := help
# The steps of one target follow each other; the build below them uses all cores anyway.
.NOTPARALLEL:
.PHONY: help demo test test-long build bench campaign peers decode early-start install uninstall clean setup setup-tests configure

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s'|'
	@echo "  Variables: PREFIX=$(PREFIX)  SWARMKV_CACHE=$(SWARMKV_CACHE)  SWARMKV_LLAMA_DIR=  SWARMKV_CUDA=$(SWARMKV_CUDA)"

demo: setup configure ## eight agents read a licence together (fetches everything it needs)
	@cmake --build $(BUILD) --target swarmkv-cli
	$(BUILD)/cli/swarmkv run examples/licence-review.yaml

build: setup configure ## the library, the command, tests and benchmarks, in build/release
	@cmake --build $(BUILD)

test: setup-tests configure ## all tests but the long ones
	@cmake --build $(BUILD)
	@ctest --test-dir $(BUILD) --output-on-failure --no-tests=error -j2 -LE long

test-long: setup-tests configure ## the long tests
	@cmake --build $(BUILD)
	@ctest --test-dir $(BUILD) --output-on-failure -j1 -L long

bench: setup configure ## micro benchmarks; BENCH_ARGS=--benchmark_filter=step runs some
	@cmake --build $(BUILD) --target swarmkv_micro
	$(BUILD)/bench/swarmkv_micro $(BENCH_ARGS)

campaign: setup configure ## the original experiment and sweeps, within an hour: plots, report (CAMPAIGN_ARGS=--full)
	@cmake --build $(BUILD) --target swarmkv-cli
	bench/campaign.py $(CAMPAIGN_ARGS)

peers: setup configure ## SwarmKV beside llama-server and llama-batched-bench, about an hour (PEERS_ARGS=)
	@cmake --build $(BUILD) --target swarmkv-cli
	bench/peers.py $(PEERS_ARGS)

decode: setup configure ## decode speed of 1 to 128 agents beside llama-batched-bench, some 90 minutes (DECODE_ARGS=)
	@cmake --build $(BUILD) --target swarmkv-cli swarmkv_micro
	bench/decode.py $(DECODE_ARGS)

early-start: setup configure ## an agent that starts at token 512 beside one that waits, three minutes (EARLY_START_ARGS=)
	@cmake --build $(BUILD) --target swarmkv-cli
	bench/early_start.py $(EARLY_START_ARGS)

install: ## library, headers and command below PREFIX (DESTDIR is honoured)
# Under sudo the cache would be root's and everything would be fetched again: install what was built.
	@if [ -z "$$SUDO_USER" ] || [ ! -x $(BUILD)/cli/swarmkv ]; then \
	  $(MAKE) --no-print-directory setup configure && \
	  cmake --build $(BUILD) --target swarmkv swarmkv-cli; fi
	@cmake --install $(BUILD) --prefix $(PREFIX)

uninstall: ## removes what make install wrote
	@scripts/uninstall $(BUILD)/install_manifest.txt

clean: ## removes build/; the cache folder stays
	rm -rf build

setup:
	@scripts/check-deps
	@scripts/get-llama
	@scripts/get-models

setup-tests:
	@scripts/check-deps
	@scripts/get-llama
	@scripts/get-models --tests

configure:
	@mkdir -p build
	@cmake --preset release -DSWARMKV_CACHE="$(SWARMKV_CACHE)" -DSWARMKV_LLAMA=ON \
	  -DSWARMKV_LLAMA_DIR="$(SWARMKV_LLAMA_DIR)" -DSWARMKV_CUDA=$(SWARMKV_CUDA) $(CMAKE_ARGS) \
	  >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
