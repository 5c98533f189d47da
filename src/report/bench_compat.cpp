// The original experiment's schema, line by line, with what was measured here.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "swarmkv/bench.h"
#include "swarmkv/error.h"

namespace swarmkv {
namespace {

constexpr const char* kBaseline = "recompute";

bool usable(const BenchTrial& t) {
  return t.n_agents == 2 && t.status == "finished" && t.agents.size() == 2;
}

// The trial in the middle by end-to-end time; the original printed its best one.
const BenchTrial* middle(std::vector<const BenchTrial*> trials) {
  if (trials.empty()) return nullptr;
  std::stable_sort(trials.begin(), trials.end(), [](const BenchTrial* a, const BenchTrial* b) {
    return a->wall_ms < b->wall_ms;
  });
  return trials[(trials.size() - 1) / 2];
}

double at(const std::vector<double>& values, std::size_t i) {
  return i < values.size() ? values[i] : 0;
}

// Out of a name whatever would start a line of its own.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return text;
}

class Lines {
 public:
  void text(const char* key, const std::string& value) {
    out_ += std::string(key) + ": " + one_line(value) + "\n";
  }
  void count(const char* key, int value) { text(key, std::to_string(value)); }
  void real(const char* key, double value) { text(key, fmt::format("{:.3f}", value)); }
  void better(const char* key, double before, double after) {
    real(key, before > 0 ? 100 * (before - after) / before : 0);
  }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

}  // namespace

std::string to_compat(const std::vector<BenchTrial>& trials, const BenchSetup& setup,
                      const std::string& label) {
  // Only what did the same work is compared: the largest case of two agents.
  std::pair<int, int> largest{0, 0};
  const auto size = [](const BenchTrial& t) { return std::pair(t.n_document, t.n_output); };
  for (const BenchTrial& t : trials) {
    if (usable(t)) largest = std::max(largest, size(t));
  }
  std::string other;
  for (const BenchTrial& t : trials) {
    if (other.empty() && usable(t) && size(t) == largest && t.arm != kBaseline) other = t.arm;
  }
  const auto trial_of = [&](const std::string& arm) {
    std::vector<const BenchTrial*> found;
    for (const BenchTrial& t : trials) {
      if (usable(t) && size(t) == largest && t.arm == arm) found.push_back(&t);
    }
    return middle(std::move(found));
  };
  const BenchTrial* base = trial_of(kBaseline);
  const BenchTrial* swarm = trial_of(other);
  if (base == nullptr || swarm == nullptr) {
    throw Error(ErrorCode::kInvalidArgument,
                std::string("[bench.compat] needs finished trials with two agents of ") +
                    kBaseline + " and of another arm; " +
                    (base == nullptr ? kBaseline : "the other arm") + " has none");
  }
  const std::vector<double> base_document = base->document_ms(), base_branch = base->branch_ms(),
                            base_proxy = base->proxy_ms();
  const std::vector<double> branch = swarm->branch_ms(), proxy = swarm->proxy_ms();
  double document = 0;
  for (const double ms : swarm->document_ms()) document += ms;

  Lines out;
  out.text("Context_Label", label.empty() ? setup.machine : label);
  out.count("Document_Tokens", base->n_document);
  out.count("Target_Prefill_Tokens", base->n_document);
  out.text("Base_Doc_Path", setup.document);
  out.count("BranchA_Tokens", base->agents[0].suffix_tokens);
  out.count("BranchB_Tokens", base->agents[1].suffix_tokens);
  out.count("SwarmKV_AgentA_Required_Prefix_Tokens", swarm->n_document);
  out.count("SwarmKV_AgentB_Required_Prefix_Tokens", swarm->n_document);
  out.real("Baseline_Agent1_Prefill_Ms", at(base_document, 0));
  out.real("Baseline_Agent1_Branch_Ms", at(base_branch, 0));
  out.real("Baseline_Agent1_Total_Ms", at(base_document, 0) + at(base_branch, 0));
  out.real("Baseline_Agent2_Prefill_Ms", at(base_document, 1));
  out.real("Baseline_Agent2_Branch_Ms", at(base_branch, 1));
  out.real("Baseline_Agent2_Total_Ms", at(base_document, 1) + at(base_branch, 1));
  out.real("Baseline_End_To_End_Ms", base->wall_ms);
  out.real("Baseline_Branch2_TTFT_Proxy_Ms", at(base_proxy, 1));
  out.real("SwarmKV_Prefill_Ms", document);
  out.real("SwarmKV_AgentA_Ms", at(branch, 0));
  out.real("SwarmKV_AgentB_Ms", at(branch, 1));
  out.real("SwarmKV_Branch_Avg_Ms", (at(branch, 0) + at(branch, 1)) / 2);
  out.real("SwarmKV_Branch1_TTFT_Proxy_Ms", at(proxy, 0));
  out.real("SwarmKV_Branch2_TTFT_Proxy_Ms", at(proxy, 1));
  out.real("SwarmKV_End_To_End_Ms", swarm->wall_ms);
  out.better("End_To_End_Improvement_Pct", base->wall_ms, swarm->wall_ms);
  out.better("Branch1_TTFT_Improvement_Pct", at(base_proxy, 0), at(proxy, 0));
  out.better("Branch2_TTFT_Improvement_Pct", at(base_proxy, 1), at(proxy, 1));
  out.real("Redundant_Prefill_Eliminated_Ms",
           at(base_document, 0) + at(base_document, 1) - document);
  return out.take();
}

}  // namespace swarmkv
