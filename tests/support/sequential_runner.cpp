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
  const std::string otherwise = " | default('none')";
  std::string out;
  while (true) {
    const std::size_t open = prompt.find("{{ ");
    if (open == std::string::npos) return out + prompt;
    const std::size_t close = prompt.find(" }}", open);
    std::string name = prompt.substr(open + 3, close - open - 3);
    const bool optional = name.find(otherwise) != std::string::npos;
    if (optional) name.erase(name.find(otherwise));
    const PlainAnswer& answer = answers.at(name);
    const bool there = answer.status == AgentStatus::kFinished;
    out += prompt.substr(0, open) + (there || !optional ? answer.text : "none");
    prompt.erase(0, close + 3);
  }
}

// Letters in front of the first place of a text that stands in one of the documents.
std::size_t n_before(const std::vector<std::string>& texts, const std::string& wanted) {
  std::size_t n = 0;
  for (const std::string& text : texts) {
    const std::size_t at = text.find(wanted);
    if (at != std::string::npos) return n + at;
    n += text.size();
  }
  ADD_FAILURE() << "'" << wanted << "' stands nowhere";
  return n;
}

// The documents as the agent sees them: in its order, and no more of them than it waits for.
void add_documents(Tokens& tokens, const Pipeline& pipeline, const AgentSpec& agent) {
  std::vector<std::string> texts;
  for (const DocumentSpec& document : pipeline.documents) {
    if (!agent.reads) texts.push_back(*document.text);
  }
  for (const std::string& name : agent.reads.value_or(std::vector<std::string>{})) {
    for (const DocumentSpec& document : pipeline.documents) {
      if (document.name == name) texts.push_back(*document.text);
    }
  }
  std::size_t n_all = 0;
  for (const std::string& text : texts) n_all += text.size();
  std::size_t n_left = n_all;
  const auto value = static_cast<std::size_t>(agent.ready_after.value);
  if (agent.ready_after.kind == ReadyAfter::Kind::kTokens) n_left = std::min(n_all, value);
  if (agent.ready_after.kind == ReadyAfter::Kind::kPercent) n_left = n_all * value / 100;
  if (agent.ready_after.kind == ReadyAfter::Kind::kBefore) {
    n_left = n_before(texts, agent.ready_after.text);
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0 && n_left > 0) add(tokens, "\n\n");
    const std::size_t n = std::min(n_left, texts[i].size());
    add(tokens, texts[i].substr(0, n));
    n_left -= n;
  }
  if (!texts.empty()) add(tokens, "\n\n");
}

void add_question(Tokens& tokens, const AgentSpec& agent,
                  const std::map<std::string, PlainAnswer>& answers) {
  if (!agent.system.empty()) add(tokens, agent.system + "\n\n");
  add(tokens, filled(agent.prompt, answers));
  tokens.push_back(kFakeEndTurn);
  add(tokens, "\n");
  tokens.push_back(kFakeTurn);
  add(tokens, "assistant\n");
}

Tokens prompt_of(const Pipeline& pipeline, const AgentSpec& agent,
                 const std::map<std::string, PlainAnswer>& answers) {
  Tokens tokens;
  if (!agent.continues.empty()) {
    const PlainAnswer& before = answers.at(agent.continues);
    tokens = before.prompt;
    tokens.insert(tokens.end(), before.tokens.begin(), before.tokens.end());
    tokens.push_back(kFakeEndTurn);
    add(tokens, "\n");
    tokens.push_back(kFakeTurn);
    add(tokens, "user\n");
    add_question(tokens, agent, answers);
    return tokens;
  }
  tokens = {kFakeStart};
  if (!pipeline.system.empty()) {
    tokens.push_back(kFakeTurn);
    add(tokens, "system\n" + pipeline.system);
    tokens.push_back(kFakeEndTurn);
    add(tokens, "\n");
  }
  tokens.push_back(kFakeTurn);
  add(tokens, "user\n");
  add_documents(tokens, pipeline, agent);
  add_question(tokens, agent, answers);
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
  answer.prompt = prompt;
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
    const bool is_marker = row.token >= 256;  // ends an answer, and is no text
    if (is_marker && !agent.ignore_eos) break;
    answer.tokens.push_back(row.token);
    if (!is_marker) bytes += static_cast<char>(row.token);
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
  PlainAnswer answer;
  try {
    answer.text = agent.function(given);
    answer.status = AgentStatus::kFinished;
  } catch (...) {
    answer.status = AgentStatus::kFailed;
  }
  return answer;
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
        const auto& optional = agent.optional_needs;
        return done.at(need).status == AgentStatus::kFinished ||
               std::find(optional.begin(), optional.end(), need) != optional.end();
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
