// Random graphs of agents and functions, and the fake models they run on.
#pragma once

#include <algorithm>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/fake/fake_options.h"
#include "support/pipelines.h"

namespace swarmkv::testing {

struct Dice {
  std::mt19937_64 rng;
  int pick(int low, int high) {
    return low + static_cast<int>(rng() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool one_in(int n) { return rng() % static_cast<std::uint64_t>(n) == 0; }
  std::string text(int n) {
    std::string out;
    for (int i = 0; i < n; ++i) out += static_cast<char>('a' + rng() % 3);
    return out;
  }
};

inline AgentSpec random_function(Dice& dice, const std::string& name,
                                 const std::vector<std::string>& needs) {
  const bool fails = dice.one_in(5);
  AgentSpec spec = function(name, needs, [fails, name](const Answers& answers) {
    if (fails) throw std::runtime_error("told to fail");
    std::string out = name;
    for (const auto& [need, answer] : answers) out += "(" + answer + ")";
    return out.substr(0, 30);
  });
  spec.max_tokens = 30;  // what the budget of those who insert the answer counts with
  return spec;
}

inline AgentSpec random_agent(Dice& dice, const std::string& name,
                              const std::vector<std::string>& needs) {
  AgentSpec spec = agent(name, dice.text(dice.pick(1, 40)), dice.pick(0, 24));
  for (const std::string& need : needs) {
    const bool can_do_without = dice.one_in(4);
    const std::string otherwise = can_do_without ? " | default('none')" : "";
    spec.prompt += " {{ " + need + otherwise + " }} " + dice.text(dice.pick(0, 5));
    if (can_do_without) spec.optional_needs.push_back(need);
  }
  spec.needs = needs;
  spec.priority = dice.pick(-1, 1);
  if (dice.one_in(4)) spec.system = dice.text(6);
  if (dice.one_in(4)) spec.stop = {dice.text(1)};
  if (dice.one_in(3)) spec.sampling.temperature = 0.7;
  spec.sampling.seed = static_cast<std::uint32_t>(dice.rng());
  spec.seed_is_own = true;
  return spec;
}

/// Of the agents before it, one that this one continues; then it has no documents of its own.
inline bool continues_one(Dice& dice, const Pipeline& pipeline, AgentSpec& spec) {
  std::vector<std::string> candidates;
  for (const AgentSpec& other : pipeline.agents) {
    if (!other.function) candidates.push_back(other.name);
  }
  if (candidates.empty() || !dice.one_in(4)) return false;
  spec.continues =
      candidates[static_cast<std::size_t>(dice.pick(0, static_cast<int>(candidates.size()) - 1))];
  if (std::find(spec.needs.begin(), spec.needs.end(), spec.continues) == spec.needs.end()) {
    spec.needs.push_back(spec.continues);
  }
  std::erase(spec.optional_needs, spec.continues);  // it cannot run without that one
  return true;
}

/// Some letters of a document that it reads, wherever they stand first; false if it reads none.
inline bool begins_before_a_text(Dice& dice, const Pipeline& pipeline, AgentSpec& spec) {
  std::vector<const std::string*> texts;
  for (const DocumentSpec& document : pipeline.documents) {
    const bool reads = !spec.reads || std::find(spec.reads->begin(), spec.reads->end(),
                                                document.name) != spec.reads->end();
    if (reads) texts.push_back(&*document.text);
  }
  if (texts.empty()) return false;
  const std::string& text =
      *texts[static_cast<std::size_t>(dice.pick(0, static_cast<int>(texts.size()) - 1))];
  const int at = dice.pick(0, static_cast<int>(text.size()) - 1);
  spec.ready_after.kind = ReadyAfter::Kind::kBefore;
  spec.ready_after.text =
      text.substr(static_cast<std::size_t>(at), static_cast<std::size_t>(dice.pick(1, 6)));
  return true;
}

/// What it reads, and how much of it.
inline void random_reading(Dice& dice, const Pipeline& pipeline, AgentSpec& spec) {
  if (dice.one_in(2)) {
    spec.reads.emplace();
    for (const DocumentSpec& document : pipeline.documents) {
      if (!dice.one_in(3)) spec.reads->push_back(document.name);
    }
    if (dice.one_in(2)) std::reverse(spec.reads->begin(), spec.reads->end());
  }
  if (dice.one_in(2)) return;
  if (dice.one_in(4) && begins_before_a_text(dice, pipeline, spec)) return;
  const bool percent = dice.one_in(3);
  spec.ready_after.kind = percent ? ReadyAfter::Kind::kPercent : ReadyAfter::Kind::kTokens;
  spec.ready_after.value = dice.pick(0, percent ? 100 : 60);
}

/// `plain`: one document that everybody reads whole, and no conversation goes on.
inline Pipeline random_pipeline(Dice& dice, bool plain = false) {
  Pipeline pipeline = pipeline_of({}, dice.text(dice.pick(1, 80)));
  for (int i = plain ? 0 : dice.pick(0, 2); i > 0; --i) {
    DocumentSpec more;
    more.name = "doc" + std::to_string(i);
    more.text = dice.text(dice.pick(1, 40));
    pipeline.documents.push_back(std::move(more));
  }
  if (dice.one_in(3)) pipeline.system = dice.text(10);
  const int n = dice.pick(1, 12);
  for (int i = 0; i < n; ++i) {
    std::vector<std::string> needs;
    for (int j = 0; j < i; ++j) {
      if (dice.one_in(4)) needs.push_back("n" + std::to_string(j));
    }
    const std::string name = "n" + std::to_string(i);
    if (dice.one_in(4)) {
      pipeline.agents.push_back(random_function(dice, name, needs));
      continue;
    }
    AgentSpec spec = random_agent(dice, name, needs);
    if (!plain && !continues_one(dice, pipeline, spec)) random_reading(dice, pipeline, spec);
    pipeline.agents.push_back(std::move(spec));
  }
  return pipeline;
}

inline internal::FakeOptions random_model(Dice& dice) {
  internal::FakeOptions options;
  const internal::ForkKind kinds[] = {internal::ForkKind::kFull, internal::ForkKind::kWindow,
                                      internal::ForkKind::kRecurrent};
  options.fork_kind = kinds[dice.pick(0, 2)];
  options.n_swa = options.fork_kind == internal::ForkKind::kWindow ? dice.pick(4, 60) : 0;
  options.eog_every = dice.pick(5, 60);
  return options;
}

}  // namespace swarmkv::testing
