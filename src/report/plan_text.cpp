// A plan as people read it: tables of what there is, then one line for each thing they may ask.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "report/plan_labels.h"
#include "report/plan_lines.h"
#include "report/report_summary.h"
#include "text/table.h"
#include "text/utf8.h"

namespace swarmkv {
namespace {

using internal::Align;
using internal::counted;
using internal::format_count;
using internal::Paint;
using internal::Table;

constexpr std::size_t kMostRows = 40;
constexpr std::size_t kMostListed = 48;  // columns of a list of names in a table

std::string with_bold_head(const Paint& paint, const Table& table) {
  const std::string text = table.to_string();
  const std::size_t end = text.find('\n');
  return "\n" + paint(Paint::kBold, text.substr(0, end)) + text.substr(end);
}

std::string rest(std::size_t n, const char* one) {
  if (n <= kMostRows) return "";
  return fmt::format("and {} more; see -o json\n",
                     counted(static_cast<std::int64_t>(n - kMostRows), one));
}

std::string document_table(const Plan& plan, const Paint& paint) {
  if (plan.documents.empty()) return "";
  Table table(
      {{"document", Align::kLeft, 32}, {"tokens", Align::kRight}, {"read by", Align::kLeft}});
  for (std::size_t i = 0; i < std::min(plan.documents.size(), kMostRows); ++i) {
    const Plan::Document& d = plan.documents[i];
    table.add_row({d.name, format_count(d.n_tokens),
                   d.n_readers == 0 ? "nobody" : counted(d.n_readers, "agent")});
  }
  return with_bold_head(paint, table) + rest(plan.documents.size(), "document");
}

std::string prefix_table(const Plan& plan, const Paint& paint) {
  if (plan.prefix.empty()) return "";
  Table table({{"computed once", Align::kLeft, 60},
               {"tokens", Align::kRight},
               {"begins the prompt of", Align::kLeft}});
  std::vector<std::size_t> depths;
  for (const Plan::PrefixNode& node : plan.prefix) {
    depths.push_back(node.parent < 0 ? 0 : depths[static_cast<std::size_t>(node.parent)] + 1);
    if (depths.size() > kMostRows) break;
    table.add_row({std::string(2 * std::min<std::size_t>(depths.back(), 8), ' ') +
                       internal::prefix_label(plan, node),
                   format_count(node.end - node.begin), counted(node.n_agents, "agent")});
  }
  return with_bold_head(paint, table) + rest(plan.prefix.size(), "piece");
}

std::string bounded(const Plan::Agent& agent, int n) {
  return (internal::is_upper_bound(agent) ? "<= " : "") + format_count(n);
}

std::string agent_table(const Plan& plan, const Paint& paint) {
  Table table({{"agent", Align::kLeft, 24},
               {"after", Align::kLeft, kMostListed},
               {"cached", Align::kRight},
               {"new prompt", Align::kRight},
               {"output", Align::kRight},
               {"in all", Align::kRight}});
  for (std::size_t i = 0; i < std::min(plan.agents.size(), kMostRows); ++i) {
    const Plan::Agent& a = plan.agents[i];
    std::vector<std::string> row{a.name, internal::starts_after(plan, a)};
    if (a.is_function) {
      row.emplace_back("function");
    } else {
      const std::string cached = format_count(a.n_cached_max);
      row.push_back(a.continues >= 0 ? "<= " + cached : cached);
      row.push_back(bounded(a, a.n_own_max));
      row.push_back("<= " + format_count(a.max_tokens));
      row.push_back("<= " + format_count(a.n_total_max));
    }
    table.add_row(std::move(row));
  }
  return with_bold_head(paint, table) + rest(plan.agents.size(), "agent");
}

std::string wave_table(const Plan& plan, const Paint& paint) {
  if (plan.waves.size() < 2) return "";
  Table table({{"wave", Align::kRight},
               {"waits for", Align::kLeft},
               {"agents", Align::kRight},
               {"cells", Align::kRight},
               {"together", Align::kLeft, kMostListed}});
  for (std::size_t i = 0; i < std::min(plan.waves.size(), kMostRows); ++i) {
    const Plan::Wave& wave = plan.waves[i];
    const bool queues = i > 0 && plan.waves[i - 1].stage == wave.stage;
    table.add_row({format_count(static_cast<std::int64_t>(i) + 1),
                   queues   ? "room"
                   : i == 0 ? "nothing"
                            : "answers",
                   format_count(static_cast<std::int64_t>(wave.agents.size())),
                   wave.n_cells == 0
                       ? "-"
                       : "<= " + format_count(wave.n_cells) + (wave.exceeds_pool ? " !" : ""),
                   internal::agent_names(plan, wave.agents)});
  }
  return with_bold_head(paint, table) + rest(plan.waves.size(), "wave");
}

}  // namespace

std::string to_text(const Plan& plan, bool color) {
  const Paint paint(color);
  return internal::plan_title(plan, paint) + document_table(plan, paint) +
         prefix_table(plan, paint) + agent_table(plan, paint) + wave_table(plan, paint) + "\n" +
         internal::plan_lines(plan, paint);
}

}  // namespace swarmkv
