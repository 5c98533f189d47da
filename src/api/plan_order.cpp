// Which agents of a plan run together, and which chain of needs takes longest.
#include <algorithm>
#include <map>

#include "api/plan_parts.h"
#include "orchestrate/dag.h"

namespace swarmkv::internal {
namespace {

// Prefix nodes that somebody in the wave needs, counted once.
class PrefixCells {
 public:
  explicit PrefixCells(const Plan& plan) : plan_(plan), seen_(plan.prefix.size(), -1) {}

  /// Tokens that the agent's prefix adds to those counted since `wave` began.
  int missing(int prefix, int wave) const {
    int n = 0;
    for (int node = prefix; node >= 0 && seen_[at(node)] != wave;
         node = plan_.prefix[at(node)].parent)
      n += plan_.prefix[at(node)].end - plan_.prefix[at(node)].begin;
    return n;
  }
  void count(int prefix, int wave) {
    for (int node = prefix; node >= 0 && seen_[at(node)] != wave;
         node = plan_.prefix[at(node)].parent) {
      seen_[at(node)] = wave;
    }
  }

 private:
  static std::size_t at(int node) { return static_cast<std::size_t>(node); }
  const Plan& plan_;
  std::vector<int> seen_;  // the last wave that had it
};

// What earlier agents left in the cache for later ones, as the stages go by.
class KeptCells {
 public:
  KeptCells(const Plan& plan, const Stages& stages) {
    // A conversation is there until the last of all that follow has begun.
    std::vector<int> last_user(plan.agents.size(), -1);
    for (auto number = stages.order.rbegin(); number != stages.order.rend(); ++number) {
      const auto i = static_cast<std::size_t>(*number);
      if (plan.agents[i].continues < 0) continue;
      int& last = last_user[static_cast<std::size_t>(plan.agents[i].continues)];
      last = std::max({last, stages.of[i], last_user[i]});
    }
    const int n_stages = 1 + *std::max_element(stages.of.begin(), stages.of.end());
    change_.resize(static_cast<std::size_t>(n_stages) + 1, 0);
    begun_.resize(change_.size());
    ended_.resize(change_.size());
    for (std::size_t i = 0; i < plan.agents.size(); ++i) {
      if (last_user[i] <= stages.of[i]) continue;
      const std::size_t from = static_cast<std::size_t>(stages.of[i]) + 1;
      const std::size_t to = static_cast<std::size_t>(last_user[i]) + 1;
      change_[from] += n_tail(plan, i);
      change_[to] -= n_tail(plan, i);
      begun_[from].push_back(plan.agents[i].prefix);
      ended_[to].push_back(plan.agents[i].prefix);
    }
  }

  /// Begins a stage, which comes after all that were begun.
  void go_to(int stage) {
    for (; stage_ <= stage; ++stage_) {
      const auto s = static_cast<std::size_t>(stage_);
      n_cells_ += change_[s];
      for (const int prefix : begun_[s]) ++prefixes_[prefix];
      for (const int prefix : ended_[s]) {
        if (--prefixes_[prefix] == 0) prefixes_.erase(prefix);
      }
    }
  }
  [[nodiscard]] std::int64_t n_cells() const { return n_cells_; }
  /// Documents stay as long as a conversation over them, and how many have them.
  [[nodiscard]] const std::map<int, int>& prefixes() const { return prefixes_; }

 private:
  std::vector<std::int64_t> change_;
  std::vector<std::vector<int>> begun_, ended_;
  std::map<int, int> prefixes_;
  std::int64_t n_cells_ = 0;
  int stage_ = 0;
};

void add_waves(Plan& plan, const Stages& stages) {
  KeptCells kept(plan, stages);
  PrefixCells cells(plan);
  int n_running = 0;
  std::int64_t n_cells = 0;
  for (const int number : stages.order) {
    const auto i = static_cast<std::size_t>(number);
    Plan::Agent& agent = plan.agents[i];
    auto wave = static_cast<int>(plan.waves.size()) - 1;
    bool is_new = wave < 0 || plan.waves.back().stage != stages.of[i];
    if (!is_new && !agent.is_function) {
      const std::int64_t n = n_cells + n_tail(plan, i) + cells.missing(agent.prefix, wave);
      // The last token of an answer is never fed.
      is_new = n_running > 0 && (n_running >= plan.n_together || n - n_running - 1 > plan.ctx_size);
    }
    if (is_new) {
      plan.waves.push_back({{}, stages.of[i], 0});
      ++wave;
      n_running = 0;
      kept.go_to(stages.of[i]);
      n_cells = kept.n_cells();
      for (const auto& [prefix, n] : kept.prefixes()) {
        n_cells += cells.missing(prefix, wave);
        cells.count(prefix, wave);
      }
    }
    agent.wave = wave;
    plan.waves.back().agents.push_back(number);
    if (agent.is_function) continue;
    ++n_running;
    n_cells += n_tail(plan, i) + cells.missing(agent.prefix, wave);
    cells.count(agent.prefix, wave);
    Plan::Wave& last = plan.waves.back();
    last.n_cells = static_cast<int>(std::min<std::int64_t>(n_cells, 1 << 30));
    last.exceeds_pool = n_cells - n_running > plan.ctx_size;
  }
}

// Whoever comes first to a piece of the prefix waits for it; later stages find it.
std::vector<int> first_stages(const Plan& plan, const Stages& stages) {
  std::vector<int> first(plan.prefix.size(), -1);
  for (const int number : stages.order) {
    const auto i = static_cast<std::size_t>(number);
    for (int node = plan.agents[i].prefix; node >= 0 && first[static_cast<std::size_t>(node)] < 0;
         node = plan.prefix[static_cast<std::size_t>(node)].parent) {
      first[static_cast<std::size_t>(node)] = stages.of[i];
    }
  }
  return first;
}

void add_critical_path(Plan& plan, const Stages& stages) {
  const std::vector<int> first = first_stages(plan, stages);
  std::vector<Plan::Step> steps;
  std::vector<double> durations;
  std::vector<std::vector<NodeId>> needs;
  for (std::size_t i = 0; i < plan.agents.size(); ++i) {
    const Plan::Agent& agent = plan.agents[i];
    Plan::Step step{agent.name, 0, agent.n_own_max, agent.max_tokens};
    for (int node = agent.prefix; node >= 0;
         node = plan.prefix[static_cast<std::size_t>(node)].parent) {
      const Plan::PrefixNode& piece = plan.prefix[static_cast<std::size_t>(node)];
      if (first[static_cast<std::size_t>(node)] == stages.of[i]) {
        step.n_prefix += piece.end - piece.begin;
      }
    }
    durations.push_back(static_cast<double>(step.n_tokens()));
    steps.push_back(std::move(step));
    needs.push_back(agent.needs);
  }
  for (const NodeId node : Dag(std::move(needs)).critical_path(durations)) {
    plan.critical_path.push_back(steps[static_cast<std::size_t>(node)]);
  }
}

}  // namespace

void plan_order(Plan& plan, const Stages& stages) {
  if (plan.agents.empty()) return;
  add_waves(plan, stages);
  add_critical_path(plan, stages);
}

}  // namespace swarmkv::internal
