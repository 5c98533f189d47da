// The schema swarmkv.plan/1.
#include "report/json_values.h"
#include "report/plan_labels.h"
#include "swarmkv/plan.h"

namespace swarmkv {
namespace {

using internal::Json;
using internal::json_count;
using internal::json_positive;
using internal::json_text;
using internal::json_text_or_null;
using internal::json_texts;

Json index_or_null(int index) { return index < 0 ? Json(nullptr) : Json(index); }

Json name_or_null(const Plan& plan, int agent) {
  return agent < 0 ? Json(nullptr) : json_text(plan.agents[static_cast<std::size_t>(agent)].name);
}

Json names_of(const Plan& plan, const std::vector<int>& agents) {
  Json out = Json::array();
  for (const int agent : agents) out.push_back(name_or_null(plan, agent));
  return out;
}

Json documents_of(const Plan& plan) {
  Json out = Json::array();
  for (const Plan::Document& d : plan.documents) {
    out.push_back(
        {{"name", json_text(d.name)}, {"n_tokens", d.n_tokens}, {"n_readers", d.n_readers}});
  }
  return out;
}

Json prefix_of(const Plan& plan) {
  Json out = Json::array();
  for (const Plan::PrefixNode& node : plan.prefix) {
    Json parts = Json::array();
    for (const Plan::PrefixNode::Part& part : node.parts) {
      parts.push_back({{"document", json_text_or_null(part.document)},
                       {"begin", part.begin},
                       {"end", part.end}});
    }
    out.push_back({{"parent", index_or_null(node.parent)},
                   {"begin", node.begin},
                   {"end", node.end},
                   {"n_agents", node.n_agents},
                   {"parts", std::move(parts)}});
  }
  return out;
}

Json agent_of(const Plan& plan, const Plan::Agent& a) {
  Json optional = Json::array();
  for (std::size_t i = 0; i < a.needs.size(); ++i) {
    if (a.optional[i]) optional.push_back(name_or_null(plan, a.needs[i]));
  }
  Json out{{"name", json_text(a.name)},
           {"kind", a.is_function ? "function" : "llm"},
           {"wave", a.wave},
           {"needs", names_of(plan, a.needs)},
           {"optional_needs", std::move(optional)},
           {"continues", name_or_null(plan, a.continues)},
           {"reads", json_texts(a.reads)},
           {"ready_after", json_count(a.ready_after)},
           {"prefix", index_or_null(a.prefix)}};
  if (a.is_function) return out;
  out["prompt_tokens"] = a.n_prompt_max;
  out["cached_tokens"] = a.n_cached_max;
  out["own_tokens"] = a.n_own_max;
  out["max_tokens"] = a.max_tokens;
  out["total_tokens"] = a.n_total_max;
  out["upper_bound"] = internal::is_upper_bound(a);
  return out;
}

Json agents_of(const Plan& plan) {
  Json out = Json::array();
  for (const Plan::Agent& agent : plan.agents) out.push_back(agent_of(plan, agent));
  return out;
}

Json waves_of(const Plan& plan) {
  Json out = Json::array();
  for (const Plan::Wave& wave : plan.waves) {
    out.push_back({{"stage", wave.stage},
                   {"kv_cells", wave.n_cells},
                   {"agents", names_of(plan, wave.agents)},
                   {"exceeds_pool", wave.exceeds_pool}});
  }
  return out;
}

Json critical_path_of(const Plan& plan) {
  Json out = Json::array();
  for (const Plan::Step& step : plan.critical_path) {
    out.push_back({{"agent", json_text(step.agent)},
                   {"prefix_tokens", step.n_prefix},
                   {"own_tokens", step.n_own},
                   {"output_tokens", step.n_output}});
  }
  return out;
}

const char* certainty(Plan::Sums sums) {
  switch (sums) {
    case Plan::Sums::kExact:
      return "exact";
    case Plan::Sums::kUpperBound:
      return "upper_bound";
    case Plan::Sums::kEstimate:
      break;
  }
  return "estimate";
}

Json kv_of(const Plan& plan) {
  const auto bytes = [&](int n_cells) {
    return json_positive(plan.kv_bytes_per_cell * static_cast<std::uint64_t>(n_cells));
  };
  return {{"ctx_size", plan.ctx_size},
          {"ctx_size_given", plan.ctx_size_given},
          {"cells_largest", plan.n_cells_largest},
          {"cells_concurrent", plan.n_cells_concurrent},
          {"bytes", bytes(plan.ctx_size)},
          {"bytes_largest", bytes(plan.n_cells_largest)},
          {"bytes_concurrent", bytes(plan.n_cells_concurrent)},
          {"bytes_per_cell", json_positive(plan.kv_bytes_per_cell)},
          {"cache_type_k", json_text(plan.cache_type_k)},
          {"cache_type_v", json_text(plan.cache_type_v)},
          {"sequences", plan.n_seqs},
          {"sequences_concurrent", plan.n_seqs_concurrent}};
}

Json warnings_of(const Plan& plan) {
  Json out = Json::array();
  for (const Diagnostic& w : plan.warnings) {
    out.push_back({{"code", json_text_or_null(w.code)},
                   {"pos", json_text_or_null(to_string(w.pos))},
                   {"message", json_text(w.message)},
                   {"hint", json_text_or_null(w.hint)}});
  }
  return out;
}

Json plan_json(const Plan& plan) {
  return Json{{"schema", "swarmkv.plan/1"},
              {"name", json_text(plan.name)},
              {"model", {{"path", json_text(plan.model)}, {"n_ctx_train", plan.n_ctx_train}}},
              {"fits", plan.misfit.empty()},
              {"misfit", json_text_or_null(plan.misfit)},
              {"documents", documents_of(plan)},
              {"prefix", prefix_of(plan)},
              {"agents", agents_of(plan)},
              {"parallel", plan.parallel},
              {"together", plan.n_together},
              {"waves", waves_of(plan)},
              {"critical_path", critical_path_of(plan)},
              {"summary",
               {{"prompt_tokens", plan.n_prompt_tokens},
                {"prompt_tokens_computed", plan.n_prompt_computed},
                {"prompt_tokens_reused", plan.n_prompt_reused},
                {"prefix_tokens", plan.n_document_tokens},
                {"certainty", certainty(plan.sums)},
                {"reasons", json_texts(plan.reasons)}}},
              {"kv", kv_of(plan)},
              {"warnings", warnings_of(plan)}};
}

}  // namespace

std::string to_json(const Plan& plan) { return internal::json_dump(plan_json(plan), 2); }

std::string to_json_line(const Plan& plan) { return internal::json_dump(plan_json(plan), -1); }

}  // namespace swarmkv
