// The four ways of handing the document over, on real weights: the same token ids where that is
// promised (--deterministic), and logits within a bound where it is not.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "engine/llama_engine.h"
#include "handoff/serial_runner.h"
#include "schedule/scheduler.h"
#include "support/model_files.h"
#include "support/recording_context.h"

namespace swarmkv::internal {
namespace {

constexpr int kDocument = 512;  // tokens

std::shared_ptr<const Model> load(const std::string& path) {
  return load_llama_model({.path = path, .n_gpu_layers = 0, .log = {}});
}

std::shared_ptr<const Tokens> licence(const Model& model) {
  Tokens tokens;
  if (const auto start = model.start_token()) tokens.push_back(*start);
  const Tokens text = model.tokenize(licence_text(), SpecialTokens::kPlainText);
  tokens.insert(tokens.end(), text.begin(), text.end());
  tokens.resize(kDocument);
  return std::make_shared<const Tokens>(std::move(tokens));
}

struct Rig {
  std::shared_ptr<const Model> model;
  ContextOptions context;
  bool deterministic = true;
  std::shared_ptr<std::map<Pos, std::vector<float>>> log =
      std::make_shared<std::map<Pos, std::vector<float>>>();

  [[nodiscard]] std::unique_ptr<RequestRunner> runner(const std::string& name) const {
    ContextOptions options = context;
    options.deterministic = deterministic;
    const auto make = [m = model, log = log, options]() -> std::unique_ptr<Context> {
      auto recording = std::make_unique<RecordingContext>(m->make_context(options), nullptr);
      recording->by_position = log;
      return recording;
    };
    const Handoff handoff = handoff_named(name);
    if (handoff != Handoff::kShared) {
      return std::make_unique<SerialRunner>(model, handoff, make,
                                            SerialOptions{deterministic, 256});
    }
    SchedulerOptions scheduler;
    scheduler.deterministic = deterministic;
    scheduler.grid = 256;
    return std::make_unique<Scheduler>(model, make(), scheduler);
  }
};

ContextOptions options_of(int n_cells) {
  ContextOptions options;
  options.n_cells = n_cells;
  options.n_seq_max = 8;
  options.n_batch = 256;
  options.n_threads = 2;
  return options;
}

std::vector<Request> questions(const Model& model, int max_tokens) {
  std::vector<Request> requests;
  const auto document = licence(model);
  for (const char* text : {"\n\nList the obligations of the licensee.", "\n\nWho may sue?",
                           "\n\nWhat is a Larger Work, and under which terms may somebody who "
                           "distributes one choose another licence for the rest of it, if that "
                           "rest is no Covered Software? Answer in one sentence, with the number "
                           "of the section, and say what notices have to be kept, who has to be "
                           "told about them, and where the Source Code Form can be had."}) {
    Request r;
    r.label = text;
    r.prefix = document;
    r.fork_points = {300};
    r.suffix = model.tokenize(text, SpecialTokens::kPlainText);
    r.max_tokens = max_tokens;
    r.ignore_eos = true;
    requests.push_back(std::move(r));
  }
  return requests;
}

std::vector<Tokens> ids_of(const Rig& rig, const std::string& handoff) {
  const auto runner = rig.runner(handoff);
  std::vector<std::shared_ptr<RequestTicket>> tickets;
  for (const Request& r : questions(*rig.model, 12)) tickets.push_back(runner->submit(r));
  std::vector<Tokens> ids;
  for (const auto& ticket : tickets) {
    const Result result = ticket->wait();
    EXPECT_EQ(result.state, RequestState::kFinished) << result.error;
    ids.push_back(result.tokens);
  }
  return ids;
}

void expect_same_ids(const std::string& path) {
  const Rig rig{load(path), options_of(1024)};
  const std::vector<Tokens> shared = ids_of(rig, "shared");
  ASSERT_EQ(shared.front().size(), 12U);
  for (const char* handoff : {"recompute", "snapshot", "device"}) {
    EXPECT_EQ(ids_of(rig, handoff), shared) << handoff;
  }
}

TEST(Arms, GiveTheSameIdsDeterministicallyWithSmolLM2) { expect_same_ids(smollm2_path()); }
TEST(Arms, GiveTheSameIdsDeterministicallyWithRandomWeights) {
  expect_same_ids(tiny_path("llama"));
}
TEST(Arms, GiveTheSameIdsDeterministicallyWithAWindowModel) {
  expect_same_ids(tiny_path("gemma3"));
}
TEST(Arms, GiveTheSameIdsDeterministicallyWithARecurrentModel) {
  expect_same_ids(tiny_path("mamba"));
}
TEST(Arms, GiveTheSameIdsDeterministicallyWithAHybridModel) { expect_same_ids(tiny_path("lfm2")); }

// Teacher-forced, in the default mode: prompts that end after 0, 1, 2, ... tokens of one answer ask
// for the logits at each. They differ in length, so a row's position tells whose it is; on the
// shared arm they are each other's siblings in one batch. `hole` >= 0 leaves that document token
// out, as a control.
using ByPosition = std::map<Pos, std::vector<float>>;

ByPosition forced_logits(const Rig& rig, const std::string& handoff, const Tokens& answer,
                         int hole = -1) {
  rig.log->clear();
  const auto runner = rig.runner(handoff);
  Request base = questions(*rig.model, 1).front();
  const Pos shift = hole >= 0 ? 1 : 0;
  if (hole >= 0) {
    Tokens cut = *base.prefix;
    cut.erase(cut.begin() + hole);
    base.prefix = std::make_shared<const Tokens>(std::move(cut));
    base.fork_points.clear();
  }
  std::vector<std::shared_ptr<RequestTicket>> tickets;
  for (std::size_t n = 0; n < answer.size(); ++n) {
    Request r = base;
    r.suffix.insert(r.suffix.end(), answer.begin(),
                    answer.begin() + static_cast<std::ptrdiff_t>(n));
    tickets.push_back(runner->submit(std::move(r)));
  }
  for (const auto& ticket : tickets) {
    const Result result = ticket->wait();
    EXPECT_EQ(result.state, RequestState::kFinished) << result.error;
  }
  EXPECT_EQ(rig.log->size(), answer.size());
  ByPosition out;
  for (auto& [pos, logits] : *rig.log) out[pos + shift] = std::move(logits);
  return out;
}

float difference(const ByPosition& a, const ByPosition& b) {
  float most = 0;
  EXPECT_EQ(a.size(), b.size());
  for (const auto& [pos, logits] : a) {
    for (std::size_t i = 0; i < logits.size(); ++i) {
      const float d = std::abs(logits[i] - b.at(pos)[i]);
      if (!(d <= most)) most = d;  // NaN counts
    }
  }
  return most;
}

// Where rounding cannot hide a fault, with a control: one token of the document less is noticed.
TEST(Arms, LogitsAgreeExactlyEnoughToSeeAMissingCell) {
  for (const char* kind : {"llama", "gemma3", "mamba", "lfm2"}) {
    SCOPED_TRACE(kind);
    ContextOptions options = options_of(1024);
    options.n_seq_max = 16;
    options.type_k = options.type_v = KvType::kF32;
    options.flash_attention = FlashAttention::kOff;
    const Rig rig{load(tiny_path(kind)), options, false};
    const Tokens answer = rig.model->tokenize(" a licence to use", SpecialTokens::kPlainText);
    // Gemma's GELU is a table of half floats: where cells lie moves it by 2e-3
    // (exactness_test.cpp).
    const float bound = std::string(kind) == "gemma3" ? 1e-2F : 1e-3F;
    const ByPosition lone = forced_logits(rig, "recompute", answer);
    for (const char* handoff : {"snapshot", "device", "shared"}) {
      EXPECT_LT(difference(lone, forced_logits(rig, handoff, answer)), bound) << handoff;
    }
    EXPECT_GT(difference(lone, forced_logits(rig, "snapshot", answer, kDocument - 10)), bound);
  }
}

// On quantised weights the layout of a batch alone moves logits (docs/architecture.md, Equality):
// the lone arms share one layout and agree to the last bit, the shared one stays within the bound.
TEST(Arms, LogitsOfSmolLM2StayWithinTheBoundOfItsArithmetic) {
  ContextOptions options = options_of(1024);
  options.n_seq_max = 16;
  const Rig rig{load(smollm2_path()), options, false};
  const Tokens answer = rig.model->tokenize(" The licensee has to keep", SpecialTokens::kPlainText);
  const ByPosition lone = forced_logits(rig, "recompute", answer);
  EXPECT_EQ(difference(lone, forced_logits(rig, "snapshot", answer)), 0);
  EXPECT_EQ(difference(lone, forced_logits(rig, "device", answer)), 0);
  const float shared = difference(lone, forced_logits(rig, "shared", answer));
  RecordProperty("largest_difference", std::to_string(shared));
  EXPECT_LT(shared, 1.5F);
}

}  // namespace
}  // namespace swarmkv::internal
