#include "api/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/digest.h"

namespace swarmkv::internal {
namespace {

// An inserted answer is tokenised again with its surroundings: seams may cost a few tokens more.
constexpr int kSeamTokens = 8;

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
  std::vector<Diagnostic> found = validate(pipeline);
  const bool broken = std::any_of(found.begin(), found.end(), [](const Diagnostic& d) {
    return d.severity == Diagnostic::Severity::kError;
  });
  if (broken)
    throw Error(ErrorCode::kInvalidArgument, "[pipeline] is not valid:\n" + format(found));

  auto prepared = std::make_shared<Prepared>();
  Prepared& out = *prepared;
  std::vector<DocumentText> texts;
  for (const DocumentSpec& spec : pipeline.documents) {
    out.documents.push_back(load_document(spec, pipeline.folder, options.strict, out.warnings));
  }
  for (const LoadedDocument& document : out.documents) {
    texts.push_back({document.name, document.text});
  }
  out.prompts = std::make_unique<PromptBuilder>(
      model, render_vars(pipeline.system, pipeline.vars),
      PromptFormat{options.use_chat_template, options.template_date});
  out.prefix = out.prompts->prefix(texts);

  std::map<std::string, int> max_tokens;
  for (const AgentSpec& agent : pipeline.agents) max_tokens[agent.name] = agent.max_tokens;
  for (const AgentSpec& agent : pipeline.agents) {
    out.templates.push_back(Template::parse(agent.prompt));
    Plan::Agent budget{agent.name, 0, 0};
    if (!agent.function) {
      const Template& prompt = out.templates.back();
      const Tokens own =
          out.prompts->suffix(render_vars(agent.system, pipeline.vars),
                              prompt.render_without_answers(pipeline.vars), !texts.empty());
      std::int64_t n = static_cast<std::int64_t>(out.prefix.tokens->size() + own.size());
      for (const TemplatePiece& piece : prompt.pieces()) {
        if (piece.kind != TemplatePiece::Kind::kReference) continue;
        n += max_tokens[piece.text] + kSeamTokens;
      }
      const std::int64_t total = n + agent.max_tokens;
      constexpr std::int64_t kMost = 1 << 30;
      budget.n_prompt_max = static_cast<int>(std::min(n, kMost));
      budget.n_total_max = static_cast<int>(std::min(total, kMost));
    }
    out.budget.push_back(budget);
  }
  out.model = std::move(model);
  out.pipeline = std::move(pipeline);
  return prepared;
}

void check_budget(const Prepared& prepared, int n_cells, std::uint64_t kv_bytes_per_cell) {
  const auto largest = std::max_element(
      prepared.budget.begin(), prepared.budget.end(),
      [](const Plan::Agent& a, const Plan::Agent& b) { return a.n_total_max < b.n_total_max; });
  if (largest == prepared.budget.end()) return;
  const int n_document = static_cast<int>(prepared.prefix.tokens->size());
  const int n_total = largest->n_total_max;
  const int n_ctx_train = prepared.model->info().n_ctx_train;
  const bool past_training = n_total > n_ctx_train;
  const int limit = past_training ? n_ctx_train : n_cells;
  if (n_total <= n_ctx_train && n_total - 1 <= n_cells) return;
  std::string message = fmt::format(
      "[plan] {} does not fit: document {} + largest branch {} ('{}') = {} tokens, {} is {} "
      "[SK401]",
      prepared.pipeline.name, n_document, n_total - n_document, largest->name, n_total,
      past_training ? "the model's training context" : "the context", limit);
  if (!past_training) {
    const double gib = static_cast<double>(kv_bytes_per_cell) * n_total / (1 << 30);
    message += fmt::format("\n   help: -c {} takes {:.2f} GiB of KV", n_total, gib);
  }
  throw Error(ErrorCode::kDoesNotFit, message);
}

}  // namespace swarmkv::internal
