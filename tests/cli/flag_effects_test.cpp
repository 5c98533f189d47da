// Every flag that the help shows: accepted in each of its spellings and from its variable, with the
// same effect; refused with a wrong value, and where a command does not take it.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "cli/flag_values.h"
#include "cli/flags.h"
#include "cli/parse.h"

namespace swarmkv::cli {
namespace {

using Variables = std::map<std::string, std::string>;

Settings parse(const std::vector<std::string>& args, Variables variables = {}) {
  return parse_command_line(
      args,
      [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
      });
}

std::string refusal(const std::vector<std::string>& args, Variables variables = {}) {
  try {
    (void)parse(args, std::move(variables));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

template <typename T>
std::string shown(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "-";
}

// Everything that a command line can change.
std::string everything(const Settings& s) {
  std::string out = fmt::format("{} {} ", s.engine, s.handoff);
  for (const std::optional<int>& n :
       {s.ctx_size, s.n_gpu_layers, s.threads, s.threads_batch, s.batch_size, s.ubatch_size,
        s.parallel, s.max_tokens, s.top_k, s.trials, s.warmup, s.verbosity}) {
    out += shown(n) + " ";
  }
  for (const std::optional<double>& x : {s.temperature, s.top_p, s.min_p, s.repeat_penalty}) {
    out += shown(x) + " ";
  }
  for (const std::optional<std::string>& text :
       {s.model, s.flash_attn, s.cache_type_k, s.cache_type_v, s.questions, s.system, s.save,
        s.template_date, s.resume, s.label, s.snapshot, s.snapshot_dir}) {
    out += shown(text) + " ";
  }
  out += fmt::format("{} {} {} {} ", shown(s.seed), shown(s.ignore_eos), shown(s.snapshot_limit),
                     s.all);
  out += s.attention + " " + s.attention_target + " ";
  out += fmt::format("{} {} {} {} ", s.changes.vars, s.changes.sets, s.changes.select,
                     s.changes.exclude);
  out += fmt::format("{} {} {} {} {} ", s.stop, s.files, s.reports, s.arms, s.thresholds);
  out += fmt::format("{} {} {} {} ", s.document_tokens, s.suffix_tokens, s.agents, s.output_tokens);
  out += fmt::format("{} {} {} {} ", s.output, s.print, s.progress, s.color);
  out += fmt::format("{} {} {} {} {} ", s.no_chat_template, s.stream, s.quiet, s.verbose, s.compat);
  return out + fmt::format("{} {} {} {} {}", s.strict, s.fail_fast, s.deterministic,
                           s.timeout.count(), s.help);
}

struct Row {
  const char* value;  ///< other than the default; "" of a switch
  const char* wrong;  ///< refused; "" if any text will do
};

const std::map<std::string_view, Row>& rows() {
  static const std::map<std::string_view, Row> kRows = {
      {"model", {"m.gguf", ""}},
      {"ctx-size", {"100", "0"}},
      {"n-gpu-layers", {"all", "-1"}},
      {"threads", {"2", "0"}},
      {"threads-batch", {"2", "513"}},
      {"batch-size", {"64", "0"}},
      {"ubatch-size", {"64", "65537"}},
      {"flash-attn", {"on", "yes"}},
      {"attention", {"stock", "fast"}},
      {"attention-target", {"AVX2", ""}},  // which there are the library knows
      {"cache-type-k", {"q8_0", "q9"}},
      {"cache-type-v", {"bf16", "F16"}},
      {"parallel", {"3", "241"}},
      {"engine", {"fake", "vllm"}},
      {"handoff", {"recompute", "copy"}},
      {"deterministic", {"", "maybe"}},
      {"predict", {"0", "-1"}},
      {"temp", {"0.5", "101"}},
      {"top-k", {"1", "-1"}},
      {"top-p", {"0.5", "0"}},
      {"min-p", {"0.5", "1"}},
      {"repeat-penalty", {"1.5", "0"}},
      {"seed", {"7", "-1"}},
      {"stop", {"END", ""}},
      {"ignore-eos", {"", "2"}},
      {"file", {"doc.txt", ""}},
      {"questions", {"q.txt", ""}},
      {"save", {"p.yaml", "-"}},
      {"system", {"Be short.", ""}},
      {"var", {"a=b", "a"}},
      {"set", {"agents.a.seed=1", "=1"}},
      {"select", {"a,+b", "a,,b"}},
      {"exclude", {"a", ","}},
      {"no-chat-template", {"", "x"}},
      {"template-date", {"2026-02-03", "2026-02-30"}},
      {"snapshot", {"auto", "on"}},
      {"snapshot-dir", {"kept", ""}},
      {"snapshot-limit", {"5GiB", "5G"}},
      {"all", {"", "x"}},
      {"document-tokens", {"64,128", "0"}},
      {"agents", {"3", "1,,2"}},
      {"output-tokens", {"8", "-1"}},
      {"suffix-tokens", {"5", "0"}},
      {"arms", {"device", "shared,copy"}},
      {"trials", {"3", "0"}},
      {"warmup", {"0", "-1"}},
      {"threshold", {"a/b=1", ""}},
      {"resume", {"r.jsonl", ""}},
      {"compat", {"", "x"}},
      {"label", {"here", ""}},
      {"output", {"json", "xml"}},
      {"report", {"r.json", "r.txt"}},
      {"print", {"all", ""}},
      {"stream", {"", "x"}},
      {"progress", {"plain", "bar"}},
      {"color", {"never", "blue"}},
      {"quiet", {"", "x"}},
      {"verbose", {"", "x"}},
      {"verbosity", {"2", "-1"}},
      {"strict", {"", "x"}},
      {"fail-fast", {"", "x"}},
      {"timeout", {"90s", "90"}},
      {"help", {"", ""}},
  };
  return kRows;
}

std::vector<std::string> with_flag(const std::string& command, const std::string& spelling,
                                   const Flag& flag, const std::string& value) {
  if (flag.takes_value()) return {command, spelling, value};
  return {command, value.empty() ? spelling : spelling + "=" + value};
}

template <typename Check>
void for_each_use(Check check) {
  for (const Flag& flag : flags()) {
    if (!flag.shown) continue;
    const auto row = rows().find(flag.name);
    ASSERT_NE(row, rows().end()) << "no row for --" << flag.name;
    for (std::size_t i = 0; i < command_names().size(); ++i) {
      const std::string& command = command_names()[i];
      SCOPED_TRACE(command + " --" + std::string(flag.name));
      check(flag, row->second, command, (flag.commands & (1U << i)) != 0);
    }
  }
}

TEST(FlagEffects, EverySpellingAndTheVariableMeanTheSameAndChangeSomething) {
  for_each_use([](const Flag& flag, const Row& row, const std::string& command, bool taken) {
    if (!taken) return;
    const std::string before = everything(parse({command}));
    const std::string after =
        everything(parse(with_flag(command, "--" + std::string(flag.name), flag, row.value)));
    EXPECT_NE(before, after);
    for (const std::string& spelling : spellings_of(flag)) {
      EXPECT_EQ(everything(parse(with_flag(command, spelling, flag, row.value))), after)
          << spelling;
    }
    const Variables variable = {{environment_name(flag), flag.takes_value() ? row.value : "1"}};
    EXPECT_EQ(everything(parse({command}, variable)), flag.environment ? after : before);
  });
}

TEST(FlagEffects, AWrongValueIsRefusedWithWhereItCameFrom) {
  for_each_use([](const Flag& flag, const Row& row, const std::string& command, bool taken) {
    if (!taken || *row.wrong == '\0') return;
    const std::string name = "--" + std::string(flag.name);
    EXPECT_EQ(refusal(with_flag(command, name, flag, row.wrong)).find(name + " '"), 0U)
        << refusal(with_flag(command, name, flag, row.wrong));
    if (!flag.environment) return;
    const std::string variable = environment_name(flag);
    EXPECT_EQ(refusal({command}, {{variable, row.wrong}}).find(variable + " '"), 0U);
  });
}

// So that the word `run` of a command line can be made `plan`.
TEST(FlagEffects, APlanTakesWhatARunTakes) {
  for (const Flag& flag : flags()) {
    EXPECT_EQ((flag.commands & kPlan) != 0, (flag.commands & kRun) != 0) << flag.name;
  }
}

TEST(FlagEffects, WhatARunWouldWriteDoesNotMatterToAPlan) {
  const Settings settings = parse({"plan", "--progress", "jsonl", "-v", "--stream", "-o", "json"});
  EXPECT_FALSE(stderr_is_events(settings));
  EXPECT_TRUE(settings.verbose);
  EXPECT_TRUE(stderr_is_events(parse({"run", "--progress", "jsonl"})));
  EXPECT_EQ(refusal({"plan", "-o", "csv"}),
            "--output 'csv': must be one of text, json, jsonl, dot, mermaid");
}

TEST(FlagEffects, ACommandRefusesAFlagOfOthersByName) {
  for_each_use([](const Flag& flag, const Row& row, const std::string& command, bool taken) {
    if (taken) return;
    const std::string name = "--" + std::string(flag.name);
    EXPECT_EQ(refusal(with_flag(command, name, flag, row.value)),
              "'" + command + "' does not take " + name);
  });
}

TEST(FlagEffects, TheWordsThatShellsOfferAreThoseThatTheFlagTakes) {
  for_each_use([](const Flag& flag, const Row&, const std::string& command, bool taken) {
    if (!taken || !flag.takes_value()) return;
    const auto bit = static_cast<Command>(
        1U << (std::find(command_names().begin(), command_names().end(), command) -
               command_names().begin()));
    const std::vector<std::string_view> words = flag_values(flag, bit);
    const std::string name = "--" + std::string(flag.name);
    for (const std::string_view word : words) {
      EXPECT_EQ(refusal({command, name, std::string(word)}), "accepted") << word;
    }
    // What a flag says that it takes is what is offered.
    const std::string said = refusal({command, name, "~"});
    constexpr std::string_view kOneOf = "must be one of ";
    if (const std::size_t at = said.find(kOneOf); at != std::string::npos) {
      EXPECT_EQ(said.substr(at + kOneOf.size()), fmt::format("{}", fmt::join(words, ", ")));
    } else if (said.find("must be auto") != std::string::npos) {
      EXPECT_FALSE(words.empty());
    }
  });
}

}  // namespace
}  // namespace swarmkv::cli
