// Runs on a real model whose documents are counted in tokens, and files that somebody spoilt.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/kv_state.h"
#include "snapshot/snapshot_folder.h"
#include "support/model_files.h"
#include "support/snapshots.h"

namespace swarmkv::testing {

/// A text that the model reads as `n` tokens; another one for each salt.
inline std::string text_of_tokens(const Model& model, int n, unsigned salt = 1) {
  static const char* const words[] = {"house", "river", "paper", "green", "water", "north",
                                      "table", "money", "state", "world", "night", "place",
                                      "right", "small", "young", "story", "light", "horse"};
  std::mt19937 random(salt);
  const auto size = [&](const std::string& text) {
    return static_cast<int>(model.tokenize(text).size());
  };
  std::string text = "The";
  for (int tries = 0; size(text) < n && tries < 20 * n; ++tries) {
    // A small vocabulary has no room for words, and the last place may be one for a letter.
    for (const std::string& more :
         {std::string(words[random() % std::size(words)]), std::string("a")}) {
      const std::string longer = text + " " + more;
      if (size(longer) > n) continue;
      text = longer;
      break;
    }
  }
  EXPECT_EQ(size(text), n);
  return text;
}

struct Question {
  std::string text;  ///< of the document
  int n_agents = 2;
  int n_answer = 4;
  bool use_template = true;
};

/// Greedy answers of `n_answer` tokens each, however soon the model would end.
inline Pipeline pipeline_of(const Question& q) {
  DocumentSpec document;
  document.name = "text";
  document.text = q.text;
  std::vector<std::string> questions;
  for (int i = 0; i < q.n_agents; ++i) questions.push_back(std::to_string(i) + ": why?");
  Pipeline pipeline = ask_pipeline(document, questions);
  for (AgentSpec& agent : pipeline.agents) {
    agent.max_tokens = q.n_answer;
    agent.ignore_eos = true;
  }
  return pipeline;
}

class SnapshotRig : public SnapshotTest {
 protected:
  static EngineOptions bit_equal(int ctx_size = 1024) {
    EngineOptions options;
    options.deterministic = true;
    options.ctx_size = ctx_size;
    options.parallel = 8;
    options.threads = 2;
    return options;
  }

  static RunReport ask(Engine& engine, const Question& q, RunOptions options) {
    options.use_chat_template = q.use_template;
    return engine.run(pipeline_of(q), options).wait();
  }
  /// As a process of its own would.
  static RunReport ask_anew(const Model& model, const Question& q, const RunOptions& options,
                            const EngineOptions& engine_options = bit_equal()) {
    Engine engine(model, engine_options);
    return ask(engine, q, options);
  }

  static void expect_read_anew(const RunReport& report, const RunReport& cold,
                               const std::string& path, const std::string& why) {
    EXPECT_EQ(report.exit_code, 0);
    EXPECT_EQ(answers_of(report), answers_of(cold));
    EXPECT_EQ(report.documents[0].computed_tokens, report.documents[0].n_tokens);
    ASSERT_EQ(report.warnings.size(), 1u) << why;
    EXPECT_EQ(report.warnings[0].code, "SK607");
    const std::string& message = report.warnings[0].message;
    EXPECT_NE(message.find("'" + path + "'"), std::string::npos) << message;
    EXPECT_NE(message.find(why), std::string::npos) << message;
  }

  /// Writes the only file anew with `change` done to its state, all checksums right.
  template <typename Change>
  void forge(Change change) const {
    const internal::SnapshotFolder folder(folder_.string());
    std::vector<std::uint8_t> state;
    Tokens tokens;
    internal::SnapshotAbout about;
    {
      const auto file = internal::SnapshotFile::open(only_file().string());
      state.assign(file.state().begin(), file.state().end());
      tokens.assign(file.tokens().begin(), file.tokens().end());
      about = file.header().about;
    }
    std::filesystem::remove(only_file());
    change(state, static_cast<int>(tokens.size()));
    (void)folder.save(about, tokens, state);
  }
};

/// The first, the middle or the last tensor of a state, by turns.
inline internal::KvStateTensor nth_tensor(const std::vector<std::uint8_t>& state,
                                          const internal::KvStateRules& rules, int nth) {
  const auto tensors = internal::read_kv_state(state, rules).tensors;
  const std::size_t at[] = {0, tensors.size() / 2, tensors.size() - 1};
  return tensors[at[nth % 3]];
}

/// Numbers that are none, at the tensor's begin or end.
inline void spoil_numbers(std::vector<std::uint8_t>& state, const internal::KvStateTensor& tensor,
                          bool at_the_end) {
  const std::size_t n = std::min<std::size_t>(tensor.n_bytes, 64);
  const std::size_t from = at_the_end ? tensor.begin + tensor.n_bytes - n : tensor.begin;
  std::memset(state.data() + from, 0xff, n);
}

/// Another type of the same size: such a state can be read, and a context of the right type
/// refuses it when it comes to this tensor, with all before it in its cache already.
inline void change_type(std::vector<std::uint8_t>& state, const internal::KvStateTensor& tensor) {
  constexpr std::uint32_t kF32 = 0, kF16 = 1, kI32 = 26, kBf16 = 30;
  ASSERT_TRUE(tensor.type == kF32 || tensor.type == kF16) << tensor.type;
  const std::uint32_t other = tensor.type == kF32 ? kI32 : kBf16;
  const std::size_t at = tensor.begin - sizeof(std::uint64_t) - sizeof other;
  ASSERT_EQ(std::memcmp(state.data() + at, &tensor.type, sizeof other), 0);
  std::memcpy(state.data() + at, &other, sizeof other);
}

}  // namespace swarmkv::testing
