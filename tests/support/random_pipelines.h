// Random graphs of agents and functions, and the fake models they run on.
#pragma once

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
  for (const std::string& need : needs)
    spec.prompt += " {{ " + need + " }} " + dice.text(dice.pick(0, 5));
  spec.needs = needs;
  spec.priority = dice.pick(-1, 1);
  if (dice.one_in(4)) spec.system = dice.text(6);
  if (dice.one_in(4)) spec.stop = {dice.text(1)};
  if (dice.one_in(3)) spec.sampling.temperature = 0.7;
  spec.sampling.seed = static_cast<std::uint32_t>(dice.rng());
  spec.seed_is_own = true;
  return spec;
}

inline Pipeline random_pipeline(Dice& dice) {
  Pipeline pipeline = pipeline_of({}, dice.text(dice.pick(1, 80)));
  if (dice.one_in(3)) pipeline.system = dice.text(10);
  const int n = dice.pick(1, 12);
  for (int i = 0; i < n; ++i) {
    std::vector<std::string> needs;
    for (int j = 0; j < i; ++j) {
      if (dice.one_in(4)) needs.push_back("n" + std::to_string(j));
    }
    const std::string name = "n" + std::to_string(i);
    pipeline.agents.push_back(dice.one_in(4) ? random_function(dice, name, needs)
                                             : random_agent(dice, name, needs));
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
