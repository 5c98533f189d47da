#include "support/sequential_runner.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/fake/fake_engine.h"

namespace swarmkv::testing {
namespace {

using internal::kFakeEndTurn;
using internal::kFakeStart;
using internal::kFakeTurn;

void add(Tokens& tokens, const std::string& text) {
  for (const char c : text) tokens.push_back(static_cast<unsigned char>(c));
}

std::string filled(std::string prompt, const std::map<std::string, PlainAnswer>& answers) {
  std::string out;
  while (true) {
    const std::size_t open = prompt.find("{{ ");
    if (open == std::string::npos) return out + prompt;
    const std::size_t close = prompt.find(" }}", open);
    out += prompt.substr(0, open) + answers.at(prompt.substr(open + 3, close - open - 3)).text;
    prompt.erase(0, close + 3);
  }
}

Tokens prompt_of(const Pipeline& pipeline, const AgentSpec& agent,
                 const std::map<std::string, PlainAnswer>& answers) {
  Tokens tokens = {kFakeStart};
  if (!pipeline.system.empty()) {
    tokens.push_back(kFakeTurn);
    add(tokens, "system\n" + pipeline.system);
    tokens.push_back(kFakeEndTurn);
    add(tokens, "\n");
  }
  tokens.push_back(kFakeTurn);
  add(tokens, "user\n");
  for (const DocumentSpec& document : pipeline.documents) add(tokens, *document.text + "\n\n");
  if (!agent.system.empty()) add(tokens, agent.system + "\n\n");
  add(tokens, filled(agent.prompt, answers));
  tokens.push_back(kFakeEndTurn);
  add(tokens, "\n");
  tokens.push_back(kFakeTurn);
  add(tokens, "assistant\n");
  return tokens;
}

// Characters that max_tokens cut in half are not shown.
std::string whole_characters(std::string bytes) {
  std::size_t end = bytes.size();
  while (end > 0 && (static_cast<unsigned char>(bytes[end - 1]) & 0xc0) == 0x80) --end;
  if (end == 0) return bytes;
  const auto lead = static_cast<unsigned char>(bytes[end - 1]);
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  if (bytes.size() - (end - 1) < length) bytes.resize(end - 1);
  return bytes;
}

PlainAnswer ask_alone(const Tokens& prompt, const AgentSpec& agent,
                      const internal::FakeModel& model) {
  PlainAnswer answer;
  answer.status = AgentStatus::kFinished;
  const int n_cells = static_cast<int>(prompt.size()) + agent.max_tokens;
  const auto context =
      model.make_fake_context({.n_cells = n_cells, .n_seq_max = 1, .n_batch = n_cells});
  const auto sampler = model.make_sampler(agent.sampling);
  internal::Batch batch;
  for (std::size_t i = 0; i < prompt.size(); ++i) {
    batch.push_back({prompt[i], static_cast<internal::Pos>(i), 0, i + 1 == prompt.size()});
  }
  std::string bytes;
  while (static_cast<int>(answer.tokens.size()) < agent.max_tokens) {
    EXPECT_EQ(context->forward(batch), internal::ForwardStatus::kOk);
    internal::SampleRow row{static_cast<int>(batch.size()) - 1, sampler.get()};
    context->sample({&row, 1});
    if (row.token >= 256) break;
    answer.tokens.push_back(row.token);
    bytes += static_cast<char>(row.token);
    for (const std::string& stop : agent.stop) {
      const std::size_t at = bytes.find(stop);
      if (at == std::string::npos) continue;
      answer.text = bytes.substr(0, at);
      return answer;
    }
    batch = {{row.token, context->length(0), 0, true}};
  }
  answer.text = whole_characters(bytes);
  return answer;
}

PlainAnswer call(const AgentSpec& agent, const std::map<std::string, PlainAnswer>& answers) {
  Answers given;
  for (const std::string& need : agent.needs) given[need] = answers.at(need).text;
  try {
    return {AgentStatus::kFinished, agent.function(given), {}};
  } catch (...) {
    return {AgentStatus::kFailed, {}, {}};
  }
}

}  // namespace

std::map<std::string, PlainAnswer> run_plainly(const Pipeline& pipeline,
                                               const internal::FakeOptions& options) {
  const auto model = internal::make_fake_model(options);
  std::map<std::string, PlainAnswer> done;
  while (done.size() < pipeline.agents.size()) {
    for (const AgentSpec& agent : pipeline.agents) {
      if (done.count(agent.name) != 0) continue;
      const auto is_done = [&](const std::string& need) { return done.count(need) != 0; };
      const auto is_good = [&](const std::string& need) {
        return done.at(need).status == AgentStatus::kFinished;
      };
      if (!std::all_of(agent.needs.begin(), agent.needs.end(), is_done)) continue;
      if (!std::all_of(agent.needs.begin(), agent.needs.end(), is_good)) {
        done[agent.name] = {};
      } else if (agent.function) {
        done[agent.name] = call(agent, done);
      } else {
        done[agent.name] = ask_alone(prompt_of(pipeline, agent, done), agent, *model);
      }
    }
  }
  return done;
}

}  // namespace swarmkv::testing
