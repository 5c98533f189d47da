// A ratio between two arms as a gate.
#include <charconv>
#include <cmath>

#include "swarmkv/bench.h"
#include "swarmkv/error.h"

namespace swarmkv {
namespace {

// Two decimals, rounded down: what misses 1.90 must not be told as 1.90.
std::string two_decimals(double value) {
  const auto hundredths = static_cast<long long>(std::floor(value * 100 + 1e-9));
  const std::string cents = std::to_string(hundredths % 100);
  return std::to_string(hundredths / 100) + "." + (cents.size() < 2 ? "0" : "") + cents;
}

const BenchRow* find(const std::vector<BenchRow>& rows, const BenchRow& in_case,
                     const std::string& arm) {
  for (const BenchRow& row : rows) {
    const bool same = row.n_document == in_case.n_document && row.n_agents == in_case.n_agents &&
                      row.n_output == in_case.n_output;
    if (same && row.arm == arm) return &row;
  }
  return nullptr;
}

}  // namespace

BenchThreshold parse_threshold(const std::string& text) {
  const std::size_t slash = text.find('/');
  const std::size_t equals = text.find('=');
  BenchThreshold out;
  bool good = slash != std::string::npos && equals != std::string::npos && slash < equals;
  if (good) {
    out.arm = text.substr(0, slash);
    out.over = text.substr(slash + 1, equals - slash - 1);
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + equals + 1, end, out.ratio);
    good = error == std::errc() && stop == end && std::isfinite(out.ratio) && out.ratio > 0 &&
           !out.arm.empty() && !out.over.empty();
  }
  if (good) return out;
  throw Error(
      ErrorCode::kInvalidArgument,
      "[bench] threshold '" + text + "' must be ARM/ARM=RATIO, such as shared/recompute=1.9");
}

std::vector<std::string> misses(const BenchThreshold& threshold,
                                const std::vector<BenchRow>& rows) {
  std::vector<std::string> out;
  bool found_any = false;
  for (const BenchRow& row : rows) {
    if (row.arm != threshold.arm) continue;
    const BenchRow* over = find(rows, row, threshold.over);
    if (over == nullptr) continue;
    found_any = true;
    const std::string where = "document " + std::to_string(row.n_document) + ", " +
                              std::to_string(row.n_agents) + " agents, output " +
                              std::to_string(row.n_output) + ": ";
    if (row.n_failed > 0 || over->n_failed > 0 || !row.wall_ms || !over->wall_ms) {
      out.push_back(where + (row.n_failed > 0 || !row.wall_ms ? row.arm : over->arm) +
                    " has failed trials");
      continue;
    }
    const double ratio = over->wall_ms->median / row.wall_ms->median;
    if (ratio >= threshold.ratio) continue;
    out.push_back(where + row.arm + " is " + two_decimals(ratio) + " x as fast as " + over->arm +
                  ", must be at least " + two_decimals(threshold.ratio));
  }
  if (!found_any) {
    out.push_back("no case was measured with both " + threshold.arm + " and " + threshold.over);
  }
  return out;
}

}  // namespace swarmkv
