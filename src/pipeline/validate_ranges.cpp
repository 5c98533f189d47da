#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "fmt/format.h"
#include "pipeline/limits.h"
#include "pipeline/prompt_positions.h"
#include "pipeline/validate.h"

namespace swarmkv::internal {
namespace {

class AgentRanges {
 public:
  AgentRanges(const AgentSpec& agent, DiagnosticList& diagnostics)
      : agent_(agent), diagnostics_(diagnostics) {}

  void integer(const char* key, std::int64_t value) {
    const IntegerLimit& limit = integer_limit(key);
    if (value >= limit.min && value <= limit.max) return;
    report(key, fmt::format("{}, not {}", range_text(limit), value));
  }

  void real(const char* key, double value) {
    const std::string problem = real_problem(key, value);
    if (!problem.empty()) report(key, fmt::format("must be {}, not {}", problem, value));
  }

  void report(const char* key, const std::string& what) {
    Problem problem;
    problem.code = "SK105";
    problem.message = fmt::format("'{}' of agent '{}' {}", key, agent_.name, what);
    problem.pos = key_position(agent_, key);
    problem.length = static_cast<int>(std::string_view(key).size());
    diagnostics_.error(std::move(problem));
  }

 private:
  const AgentSpec& agent_;
  DiagnosticList& diagnostics_;
};

// The reader lets nothing else through; in C++ it is a plain number.
void check_ready_after(const ReadyAfter& value, AgentRanges& check) {
  const IntegerLimit& tokens = integer_limit("ready_after");
  switch (value.kind) {
    case ReadyAfter::Kind::kEnd:
      return;
    case ReadyAfter::Kind::kTokens:
      if (value.value >= static_cast<double>(tokens.min) &&
          value.value <= static_cast<double>(tokens.max) &&
          value.value == std::floor(value.value)) {
        return;
      }
      return check.report("ready_after",
                          fmt::format("{} whole tokens, not {}", range_text(tokens), value.value));
    case ReadyAfter::Kind::kPercent:
      if (value.value >= 0 && value.value <= 100) return;
      return check.report("ready_after",
                          fmt::format("must be between 0 and 100 percent, not {}", value.value));
    case ReadyAfter::Kind::kBefore:
      if (value.text.empty()) check.report("ready_after", "must not wait for an empty text");
  }
}

}  // namespace

void check_ranges(const AgentSpec& agent, DiagnosticList& diagnostics) {
  AgentRanges check(agent, diagnostics);
  check.integer("max_tokens", agent.max_tokens);
  check.integer("priority", agent.priority);
  check.integer("top_k", agent.sampling.top_k);
  check.integer("repeat_last_n", agent.sampling.repeat_last_n);
  check.real("temperature", agent.sampling.temperature);
  check.real("top_p", agent.sampling.top_p);
  check.real("min_p", agent.sampling.min_p);
  check.real("repeat_penalty", agent.sampling.repeat_penalty);
  if (agent.timeout.count() < 0 || agent.timeout > kMaxTimeout) {
    check.report("timeout",
                 fmt::format("must be between 0 and 168h, not {} ms", agent.timeout.count()));
  }
  check_ready_after(agent.ready_after, check);
  for (const std::string& stop : agent.stop) {
    if (!stop.empty()) continue;
    check.report("stop", "must not hold an empty text");
    return;
  }
}

void check_model(const ModelSpec& model, DiagnosticList& diagnostics) {
  const auto check = [&](const char* key, const std::optional<int>& value, int also_allowed) {
    const IntegerLimit& limit = integer_limit(key);
    if (!value || *value == also_allowed || (*value >= limit.min && *value <= limit.max)) return;
    diagnostics.error({"SK105",
                       fmt::format("'{}' of the model {}, not {}", key, range_text(limit), *value),
                       model.pos});
  };
  constexpr int kNothingElse = 1;  // allowed by every limit anyway
  check("ctx_size", model.ctx_size, 0);
  check("n_gpu_layers", model.n_gpu_layers, kAutoLayers);
  check("threads", model.threads, kNothingElse);
  check("threads_batch", model.threads_batch, kNothingElse);
  check("batch_size", model.batch_size, kNothingElse);
  check("parallel", model.parallel, kNothingElse);
}

}  // namespace swarmkv::internal
