// Short words for driving the llama engine on a real or tiny model by hand.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/context.h"
#include "engine/llama_engine.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {

/// The value of an environment variable that the test set-up has to give; its absence is a failure.
inline std::string required_environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) throw std::runtime_error(std::string(name) + " is not set");
  return value;
}

inline std::shared_ptr<const Model> load_model(const std::string& path) {
  LlamaModelOptions options;
  options.path = path;
  return load_llama_model(options);
}

/// SmolLM2-135M-Instruct, loaded once per process.
inline std::shared_ptr<const Model> smollm2() {
  static const std::shared_ptr<const Model> model =
      load_model(required_environment("SWARMKV_TEST_SMOLLM2"));
  return model;
}

/// A tiny random F32 model: llama, gemma3 (windows), mamba (recurrent), lfm2 (hybrid).
inline std::shared_ptr<const Model> tiny(const std::string& kind) {
  return load_model(required_environment("SWARMKV_TEST_TINY_DIR") + "/" + kind + "-f32.gguf");
}

inline ContextOptions small_context(int n_cells = 512, int n_seq_max = 4, int n_batch = 256) {
  ContextOptions options;
  options.n_cells = n_cells;
  options.n_seq_max = n_seq_max;
  options.n_batch = n_batch;
  options.n_threads = 1;  // these tests are small, and spinning threads cost more than they give
  return options;
}

/// Exact enough to see a missing cell: no flash attention, nothing rounded in the cache.
inline ContextOptions exact_context(int n_cells = 512, int n_seq_max = 8, int n_batch = 256) {
  ContextOptions options = small_context(n_cells, n_seq_max, n_batch);
  options.type_k = options.type_v = KvType::kF32;
  options.flash_attention = FlashAttention::kOff;
  return options;
}

/// `tokens` as the next ones of `seq`; the last asks for logits.
inline Batch next_tokens(const Context& context, SeqId seq, std::span<const Token> tokens) {
  Batch batch;
  Pos pos = context.length(seq);
  for (const Token token : tokens) batch.push_back({token, pos++, seq, false});
  if (!batch.empty()) batch.back().logits = true;
  return batch;
}

/// Forwards `tokens` on `seq`; the logits of the last one.
inline std::vector<float> feed(Context& context, SeqId seq, std::span<const Token> tokens) {
  const Batch batch = next_tokens(context, seq, tokens);
  const ForwardStatus status = context.forward(batch);
  if (status != ForwardStatus::kOk) {
    throw std::runtime_error("forward answered " + std::to_string(static_cast<int>(status)));
  }
  const auto row = context.logits(static_cast<int>(batch.size()) - 1);
  return {row.begin(), row.end()};
}

/// `n` ordinary token ids that differ from one another and between `salt`s.
inline Tokens some_tokens(const Model& model, int n, int salt = 0) {
  Tokens tokens;
  for (Token id = 1000 + 37 * salt; static_cast<int>(tokens.size()) < n; id += 7) {
    const Token token = id % model.info().n_vocab;
    if (!model.is_control(token) && !model.is_end_of_generation(token)) tokens.push_back(token);
  }
  return tokens;
}

inline float largest_difference(std::span<const float> a, std::span<const float> b) {
  EXPECT_EQ(a.size(), b.size());
  float most = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    most = std::max(most, std::fabs(a[i] - b[i]));
  }
  return most;
}

/// The error that `action` throws has this code and names `part`.
template <typename Action>
void expect_error(ErrorCode code, const std::string& part, Action action) {
  try {
    action();
    ADD_FAILURE() << "nothing was thrown, expected: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

}  // namespace swarmkv::internal
