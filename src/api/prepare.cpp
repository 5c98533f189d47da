#include "api/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "api/schema_check.h"
#include "base/digest.h"

namespace swarmkv::internal {
namespace {

// An inserted answer is tokenised again with its surroundings: seams may cost a few tokens more.
constexpr int kSeamTokens = 8;

// Who continues whom. Answers whether anybody does.
bool link_conversations(Prepared& prepared) {
  std::map<std::string_view, NodeId> ids;
  for (std::size_t i = 0; i < prepared.pipeline.agents.size(); ++i) {
    ids.emplace(prepared.pipeline.agents[i].name, static_cast<NodeId>(i));
  }
  bool any = false;
  for (std::size_t i = 0; i < prepared.agents.size(); ++i) {
    const std::string& continues = prepared.pipeline.agents[i].continues;
    if (continues.empty()) continue;
    const NodeId parent = ids.at(continues);
    prepared.agents[i].continues = parent;
    prepared.agents[static_cast<std::size_t>(parent)].is_continued = true;
    any = true;
  }
  return any;
}

// Agents, those whose conversation another one continues before it. Each line of conversations is
// walked once.
std::vector<std::size_t> with_parents_first(const Prepared& prepared) {
  std::vector<std::size_t> order, line;
  std::vector<bool> done(prepared.agents.size(), false);
  for (std::size_t i = 0; i < prepared.agents.size(); ++i) {
    for (auto node = static_cast<NodeId>(i); node >= 0 && !done[static_cast<std::size_t>(node)];
         node = prepared.agents[static_cast<std::size_t>(node)].continues) {
      line.push_back(static_cast<std::size_t>(node));
      done[line.back()] = true;
    }
    order.insert(order.end(), line.rbegin(), line.rend());
    line.clear();
  }
  return order;
}

// A continuation stands behind the documents of the one it continues.
void inherit_prefixes(Prepared& prepared, const std::vector<std::size_t>& parents_first) {
  for (const std::size_t i : parents_first) {
    PreparedAgent& agent = prepared.agents[i];
    if (agent.continues < 0) continue;
    const PreparedAgent& parent = prepared.agents[static_cast<std::size_t>(agent.continues)];
    agent.reads = parent.reads;
    agent.prefix = parent.prefix;
    agent.fork_points = parent.fork_points;
    agent.ready_after = parent.ready_after;
  }
}

int clamped(std::int64_t n) { return static_cast<int>(std::min<std::int64_t>(n, 1 << 30)); }

void add_budget(Prepared& prepared, const std::vector<std::size_t>& parents_first) {
  const std::vector<AgentSpec>& specs = prepared.pipeline.agents;
  std::map<std::string_view, int> max_tokens;
  for (const AgentSpec& agent : specs) max_tokens[agent.name] = agent.max_tokens;
  prepared.budget.resize(specs.size());
  for (const std::size_t i : parents_first) {
    const AgentSpec& spec = specs[i];
    PreparedAgent& agent = prepared.agents[i];
    Plan::Agent& budget = prepared.budget[i];
    budget.name = spec.name;
    if (spec.function) continue;
    std::int64_t n = 0;
    const std::string text = agent.prompt.render_without_answers(prepared.pipeline.vars);
    if (agent.continues >= 0) {
      n = prepared.budget[static_cast<std::size_t>(agent.continues)].n_total_max;
      agent.own = prepared.prompts->next_turn(agent.system, text);
    } else {
      const bool has_documents = !prepared.reads_of(i).documents.empty();
      n = static_cast<std::int64_t>(agent.prefix->size());
      agent.own = prepared.prompts->suffix(agent.system, text, has_documents);
    }
    n += static_cast<std::int64_t>(agent.own.size());
    for (const TemplatePiece& piece : agent.prompt.pieces()) {
      if (piece.kind != TemplatePiece::Kind::kReference) continue;
      n += max_tokens[piece.text] + kSeamTokens;
    }
    budget.n_prompt_max = clamped(n);
    budget.n_total_max = clamped(n + spec.max_tokens);
  }
}

}  // namespace

Sampling sampling_of(const AgentSpec& agent) {
  Sampling sampling = agent.sampling;
  if (!agent.seed_is_own) {
    sampling.seed = static_cast<std::uint32_t>(hash64(agent.name, agent.sampling.seed));
  }
  return sampling;
}

std::shared_ptr<const Prepared> prepare(std::shared_ptr<const Model> model, Pipeline pipeline,
                                        const RunOptions& options) {
  std::vector<Diagnostic> found = validate(pipeline, [&model](const std::string& schema) {
    Sampling sampling;
    sampling.json_schema = schema;
    return problem_of_schema([&] { (void)model->make_sampler(sampling); });
  });
  const bool broken = std::any_of(found.begin(), found.end(), [](const Diagnostic& d) {
    return d.severity == Diagnostic::Severity::kError;
  });
  if (broken)
    throw Error(ErrorCode::kInvalidArgument, "[pipeline] is not valid:\n" + format(found));

  auto prepared = std::make_shared<Prepared>();
  Prepared& out = *prepared;
  for (const DocumentSpec& spec : pipeline.documents) {
    out.documents.push_back(load_document(spec, pipeline.folder, options.strict, out.warnings));
  }
  out.model = std::move(model);
  out.pipeline = std::move(pipeline);
  for (const AgentSpec& agent : out.pipeline.agents) {
    PreparedAgent& prepared_agent = out.agents.emplace_back();
    prepared_agent.prompt = Template::parse(agent.prompt);
    prepared_agent.system = render_vars(agent.system, out.pipeline.vars);
  }
  const bool has_turns = link_conversations(out);
  out.prompts = std::make_unique<PromptBuilder>(
      out.model, render_vars(out.pipeline.system, out.pipeline.vars),
      PromptFormat{options.use_chat_template, options.template_date, has_turns});
  prepare_prefixes(out);
  number_readings(out);
  const std::vector<std::size_t> parents_first = with_parents_first(out);
  inherit_prefixes(out, parents_first);
  add_budget(out, parents_first);
  return prepared;
}

std::string misfit_of(const Prepared& prepared, int n_cells, std::uint64_t kv_bytes_per_cell) {
  const auto largest = std::max_element(
      prepared.budget.begin(), prepared.budget.end(),
      [](const Plan::Agent& a, const Plan::Agent& b) { return a.n_total_max < b.n_total_max; });
  if (largest == prepared.budget.end()) return "";
  const auto index = static_cast<std::size_t>(largest - prepared.budget.begin());
  const PreparedAgent& agent = prepared.agents[index];
  const int n_document = agent.prefix == nullptr ? 0 : static_cast<int>(agent.prefix->size());
  const int n_total = largest->n_total_max;
  const int n_ctx_train = prepared.model->info().n_ctx_train;
  const bool past_training = n_total > n_ctx_train;
  const int limit = past_training ? n_ctx_train : n_cells;
  if (n_total <= n_ctx_train && n_total - 1 <= n_cells) return "";
  std::string message = fmt::format(
      "[plan] {} does not fit: document {} + largest branch {} ('{}') = {} tokens, {} is {} "
      "[SK401]",
      prepared.pipeline.name, n_document, n_total - n_document, largest->name, n_total,
      past_training ? "the model's training context" : "the context", limit);
  if (!past_training) {
    const double gib = static_cast<double>(kv_bytes_per_cell) * n_total / (1 << 30);
    message += fmt::format("\n   help: -c {} takes {:.2f} GiB of KV", n_total, gib);
  }
  return message;
}

void check_budget(const Prepared& prepared, int n_cells, std::uint64_t kv_bytes_per_cell) {
  const std::string misfit = misfit_of(prepared, n_cells, kv_bytes_per_cell);
  if (!misfit.empty()) throw Error(ErrorCode::kDoesNotFit, misfit);
}

}  // namespace swarmkv::internal
