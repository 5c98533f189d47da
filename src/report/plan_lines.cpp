#include "report/plan_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/plan_labels.h"
#include "text/table.h"
#include "text/utf8.h"

namespace swarmkv::internal {
namespace {

constexpr std::size_t kMostWarnings = 20;
constexpr std::size_t kMostSteps = 12;  // of a longer chain the first and the last are shown

std::string because(const Plan& plan) {
  switch (plan.sums) {
    case Plan::Sums::kExact:
      return "";
    case Plan::Sums::kUpperBound:
      return "\nupper bounds: " + joined(plan.reasons);
    case Plan::Sums::kEstimate:
      return "\nan estimate: " + joined(plan.reasons);
  }
  return "";
}

std::string prompt_tokens(const Plan& plan) {
  const char* mark = plan.sums == Plan::Sums::kExact        ? ""
                     : plan.sums == Plan::Sums::kUpperBound ? "<= "
                                                            : "about ";
  std::string out = fmt::format(
      "{}{} asked   {}{} computed   {}{} reused", mark, format_count(plan.n_prompt_tokens), mark,
      format_count(plan.n_prompt_computed), mark, format_count(plan.n_prompt_reused));
  if (plan.n_prompt_tokens > 0) {
    out += " (" +
           format_fixed(100.0 * static_cast<double>(plan.n_prompt_reused) /
                            static_cast<double>(plan.n_prompt_tokens),
                        1) +
           " %)";
  }
  return out + because(plan);
}

std::string cells(const Plan& plan, int n) {
  std::string out = format_count(n) + " cells";
  if (plan.kv_bytes_per_cell == 0) return out;
  return out + " = " + format_bytes(plan.kv_bytes_per_cell * static_cast<std::uint64_t>(n));
}

std::string kv_cache(const Plan& plan) {
  std::string out =
      fmt::format("largest branch {}\nall at once {}\npool {} ({})",
                  cells(plan, plan.n_cells_largest), cells(plan, plan.n_cells_concurrent),
                  cells(plan, plan.ctx_size), plan.ctx_size_given ? "as given" : "-c auto");
  if (plan.kv_bytes_per_cell > 0) {
    out += fmt::format(", {} a cell at {}/{}", format_bytes(plan.kv_bytes_per_cell),
                       plan.cache_type_k, plan.cache_type_v);
  }
  return out;
}

std::int64_t n_in_largest_wave(const Plan& plan) {
  std::int64_t most = 0;
  for (const Plan::Wave& wave : plan.waves) {
    most = std::max<std::int64_t>(
        most, std::count_if(wave.agents.begin(), wave.agents.end(), [&plan](int agent) {
          return !plan.agents[static_cast<std::size_t>(agent)].is_function;
        }));
  }
  return most;
}

// Where needs or cells keep agents apart, more would be allowed at once than the waves have.
std::string order(const Plan& plan) {
  bool queues = false;
  for (std::size_t i = 1; i < plan.waves.size(); ++i) {
    queues |= plan.waves[i].stage == plan.waves[i - 1].stage;
  }
  const std::int64_t n = n_in_largest_wave(plan);
  if (plan.n_together == 1) return "one agent at a time";
  if (n <= 1) return "one agent after another";
  if (n < plan.n_together) {
    return fmt::format("waves of at most {} agents; in a run each starts as soon as {}",
                       format_count(n), queues ? "there is room for it" : "what it needs is done");
  }
  return fmt::format("at most {} agents at once{}", format_count(n),
                     queues ? "; the others queue, and come as soon as there is room" : "");
}

// The documents that a chain waits for at its beginning are a step of their own.
std::vector<std::string> steps_of(const Plan& plan) {
  std::vector<std::string> steps;
  for (const Plan::Step& step : plan.critical_path) {
    if (step.n_prefix > 0) steps.push_back("documents " + format_count(step.n_prefix));
    steps.push_back(step.agent + " " + format_count(step.n_own + step.n_output));
  }
  return steps;
}

std::string critical_path(const Plan& plan) {
  const std::vector<std::string> steps = steps_of(plan);
  std::int64_t sum = 0;
  for (const Plan::Step& step : plan.critical_path) sum += step.n_tokens();
  std::string out;
  const std::size_t n = steps.size();
  for (std::size_t i = 0; i < n; ++i) {
    if (n > kMostSteps && i == kMostSteps / 2) {
      i = n - kMostSteps / 2;
      out += fmt::format(" > ({} more)", n - kMostSteps);
    }
    out += (out.empty() ? "" : " > ") + steps[i];
  }
  return out + " = at most " + format_count(sum) + " tokens, one after another";
}

std::string warning_lines(const Plan& plan, const Paint& paint) {
  std::string out;
  const std::size_t n = std::min(plan.warnings.size(), kMostWarnings);
  for (std::size_t i = 0; i < n; ++i) {
    const Diagnostic& w = plan.warnings[i];
    std::string text = w.message;
    if (w.pos.line > 0) text += " (" + to_string(w.pos) + ")";
    if (!w.code.empty()) text += " [" + w.code + "]";
    if (!w.hint.empty()) text += "\nhelp: " + w.hint;
    out += labelled_line(paint, Paint::kYellow, "warning", text);
  }
  const auto hidden = static_cast<std::int64_t>(plan.warnings.size() - n);
  if (hidden > 0) out += labelled_line(paint, "", "", "and " + counted(hidden, "more warning"));
  return out;
}

// Of the waves that need more than there is, the one that needs most.
const Plan::Wave* largest_over_pool(const Plan& plan) {
  const Plan::Wave* found = nullptr;
  for (const Plan::Wave& wave : plan.waves) {
    if (wave.exceeds_pool && (found == nullptr || wave.n_cells > found->n_cells)) found = &wave;
  }
  return found;
}

std::string verdict(const Plan& plan, const Paint& paint) {
  if (!plan.misfit.empty()) return labelled_line(paint, Paint::kRed, "does not fit", plan.misfit);
  if (const Plan::Wave* wave = largest_over_pool(plan)) {
    return labelled_line(
        paint, Paint::kYellow, "tight",
        fmt::format(
            "it runs: the largest branch takes {} of {} cells. But wave {} may need {}, and "
            "what is kept for later agents then leaves the cache and is computed again\n"
            "help: -c {}",
            format_count(plan.n_cells_largest), format_count(plan.ctx_size),
            wave - plan.waves.data() + 1, format_count(wave->n_cells),
            std::max(wave->n_cells, plan.n_cells_concurrent)));
  }
  return labelled_line(
      paint, "", "fits",
      fmt::format("{} of {} cells for the largest branch; the model was trained for {}",
                  format_count(plan.n_cells_largest), format_count(plan.ctx_size),
                  format_count(plan.n_ctx_train)));
}

}  // namespace

std::string plan_title(const Plan& plan, const Paint& paint) {
  const std::string name = fit_width(escape_control("swarmkv plan " + plan.name), 60);
  const std::string counts =
      fmt::format("{} \u00b7 {} \u00b7 {}",
                  counted(static_cast<std::int64_t>(plan.documents.size()), "document"),
                  counted(static_cast<std::int64_t>(plan.agents.size()), "agent"),
                  !plan.misfit.empty()      ? "does not fit"
                  : largest_over_pool(plan) ? "tight"
                                            : "fits");
  return paint(Paint::kBold, name) + "   " + counts + "\n";
}

std::string plan_lines(const Plan& plan, const Paint& paint) {
  std::string out = labelled_line(paint, "", "prompt tokens", prompt_tokens(plan)) +
                    labelled_line(paint, "", "KV cache", kv_cache(plan)) +
                    labelled_line(paint, "", "order", order(plan));
  if (!plan.critical_path.empty())
    out += labelled_line(paint, "", "critical path", critical_path(plan));
  return out + warning_lines(plan, paint) + verdict(plan, paint);
}

}  // namespace swarmkv::internal
