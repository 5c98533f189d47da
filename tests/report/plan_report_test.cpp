#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "support/golden.h"
#include "swarmkv/plan.h"

namespace swarmkv {
namespace {

//  contract, first 4,000 --> teaser
//           '--> rest --> obligations, risk --> memo ==> critic
//                   '--> annex --> annex_check ..> memo
Plan contract_review() {
  Plan p;
  p.name = "contract-review";
  p.model = "models/tiny.gguf";
  p.documents = {{"contract", 41237, 5}, {"annex", 512, 1}, {"unread", 70, 0}};
  p.prefix = {{-1, 0, 4012, {{"", 0, 12}, {"contract", 0, 4000}}, 6},
              {0, 4012, 41249, {{"contract", 4000, 41237}}, 5},
              {1, 41249, 41762, {{"", 0, 1}, {"annex", 0, 512}}, 1}};
  p.n_document_tokens = 41762;
  const auto add = [&](const char* name, int prefix, int cached, int own,
                       int output) -> Plan::Agent& {
    Plan::Agent& a = p.agents.emplace_back();
    a.name = name;
    a.prefix = prefix;
    a.n_cached_max = cached;
    a.n_own_max = own;
    a.n_prompt_max = cached + own;
    a.max_tokens = output;
    a.n_total_max = cached + own + output;
    a.reads = {"contract"};
    return a;
  };
  const auto needs = [](Plan::Agent& a, std::vector<int> who) {
    a.needs = std::move(who);
    a.optional.assign(a.needs.size(), false);
  };
  add("teaser", 0, 4012, 38, 120).ready_after = 4000;
  add("obligations", 1, 41249, 58, 600);
  add("risk", 1, 41249, 40, 500);
  add("annex_check", 2, 41762, 30, 500).reads = {"contract", "annex"};
  Plan::Agent& memo = add("memo", 1, 41249, 1616, 350);
  needs(memo, {1, 2, 3});
  memo.optional[2] = true;
  memo.inserts = true;
  memo.wave = 1;
  Plan::Agent& critic = add("critic", 1, 43214, 30, 200);
  needs(critic, {4});
  critic.continues = 4;
  critic.wave = 2;
  Plan::Agent& tidy = p.agents.emplace_back();
  tidy.name = "tidy";
  tidy.is_function = true;
  needs(tidy, {5});
  tidy.wave = 3;
  p.waves = {{{0, 1, 2, 3}, 0, 43648}, {{4}, 1, 43215}, {{5}, 2, 43444}, {{6}, 3, 0}};
  p.critical_path = {{"obligations", 41249, 58, 600},
                     {"memo", 0, 1616, 350},
                     {"critic", 0, 30, 200},
                     {"tidy", 0, 0, 0}};
  p.sums = Plan::Sums::kUpperBound;
  p.reasons = {"answers are inserted", "conversations go on"};
  p.n_prompt_tokens = 215163;
  p.n_prompt_computed = 43574;
  p.n_prompt_reused = 171589;
  p.n_cells_concurrent = 45814;
  p.n_cells_largest = 43444;
  p.ctx_size = 49152;
  p.ctx_size_given = true;
  p.parallel = p.n_together = 16;
  p.n_seqs = 32;
  p.n_seqs_concurrent = 16 + 2 + 1;
  p.n_ctx_train = 131072;
  p.cache_type_k = p.cache_type_v = "f16";
  p.kv_bytes_per_cell = 147456;
  p.kv_bytes = p.kv_bytes_per_cell * 49152;
  Diagnostic late;
  late.code = "SK606";
  late.message = "'teaser' waits for 50,000 document tokens, there are 41,237: it waits for all";
  late.pos = {"contract.yaml", 12, 5};
  late.hint = "leave it out";
  p.warnings = {late};
  return p;
}

// Everything that a shell, a terminal, Graphviz or Mermaid could take for its own.
Plan hostile() {
  Plan p = contract_review();
  p.name = "a\"; b [label=\"x\"]\n---\nclick a0 \x1b[2J";
  p.agents[0].name = "end\"]; a1 --> a0\n%% <script>alert(1)</script> `x` #quot; \\";
  p.documents[0].name = "c|d{e}";
  for (Plan::PrefixNode& node : p.prefix) {
    for (Plan::PrefixNode::Part& part : node.parts) {
      if (part.document == "contract") part.document = p.documents[0].name;
    }
  }
  return p;
}

// Outside of quotes a graph holds only what we wrote; a quote inside has a backslash.
std::string outside_of_quotes(const std::string& text) {
  std::string out;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (inside && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      inside = !inside;
    } else if (!inside) {
      out += text[i];
    }
  }
  EXPECT_FALSE(inside) << text;
  return out;
}

TEST(PlanReport, LooksLikeTheGoldenTexts) {
  const Plan plan = contract_review();
  swarmkv::testing::expect_golden("report/plan.txt", to_text(plan, false));
  swarmkv::testing::expect_golden("report/plan.json", to_json(plan));
  swarmkv::testing::expect_golden("report/plan.dot", to_dot(plan));
  swarmkv::testing::expect_golden("report/plan.mmd", to_mermaid(plan));
}

TEST(PlanReport, NamesCannotBecomePartOfAGraph) {
  const auto as_plain = [](std::string text) {
    std::erase_if(text, [](char c) { return c == ' '; });
    return text;
  };
  EXPECT_EQ(as_plain(outside_of_quotes(to_dot(hostile()))),
            as_plain(outside_of_quotes(to_dot(contract_review()))));
  // Mermaid knows no backslash: inside of quotes there must be none of its own signs.
  const std::string text = to_mermaid(hostile());
  std::istringstream lines(text);
  int n_lines = 0;
  for (std::string line; std::getline(lines, line); ++n_lines) {
    if (n_lines < 3) continue;  // the title is YAML
    EXPECT_EQ(std::count(line.begin(), line.end(), '"') % 2, 0) << line;
    EXPECT_EQ(line.find("<script"), std::string::npos) << line;
    EXPECT_EQ(line.find_first_of("`\\\x1b"), std::string::npos) << line;
  }
  const std::string plain = to_mermaid(contract_review());
  EXPECT_EQ(n_lines, std::count(plain.begin(), plain.end(), '\n'));
  EXPECT_EQ(outside_of_quotes(text), outside_of_quotes(plain));
}

TEST(PlanReport, NothingThatIsForeignMovesTheCursor) {
  Plan plan = hostile();
  plan.misfit = "does \x1b[31m not\x07 fit";
  plan.warnings[0].message = "\x1b]0;title\x07";
  for (const std::string& text :
       {to_text(plan, false), to_json(plan), to_dot(plan), to_mermaid(plan)}) {
    EXPECT_EQ(text.find_first_of("\x1b\x07"), std::string::npos) << text;
  }
}

TEST(PlanReport, SaysWhatDoesNotFitAndWhatIsOnlyAbout) {
  Plan plan = contract_review();
  plan.misfit = "[plan] x does not fit";
  plan.sums = Plan::Sums::kEstimate;
  plan.kv_bytes_per_cell = 0;
  const std::string text = to_text(plan, false);
  EXPECT_NE(text.find("does not fit    [plan] x does not fit"), std::string::npos) << text;
  EXPECT_NE(text.find("about 215,163 asked"), std::string::npos) << text;
  EXPECT_EQ(text.find("MiB"), std::string::npos) << "unknown is not 0";
  EXPECT_NE(to_json(plan).find("\"bytes_per_cell\": null"), std::string::npos);
  EXPECT_NE(to_json(plan).find("\"fits\": false"), std::string::npos);
}

TEST(PlanReport, CutsLongTablesAndSaysSo) {
  Plan plan = contract_review();
  for (int i = 0; i < 10'000; ++i) {
    Plan::Agent& agent = plan.agents.emplace_back();
    agent.name = "q" + std::to_string(i);
    plan.waves.push_back({{static_cast<int>(plan.agents.size()) - 1}, 4, 1});
    plan.critical_path.push_back({agent.name, 0, 1, 1});
  }
  const std::string text = to_text(plan, false);
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 150);
  EXPECT_NE(text.find("and 9,967 agents more; see -o json"), std::string::npos) << text;
  EXPECT_NE(to_json(plan).find("q9999"), std::string::npos);
}

std::string order_of(const Plan& plan) {
  const std::string text = to_text(plan, false);
  const std::size_t begin = text.find("\norder           ") + 17;
  return text.substr(begin, text.find('\n', begin) - begin);
}

// Three that need nobody, and one that needs them: four are never at once, whatever -np says.
TEST(PlanReport, SaysOfTheOrderWhatTheWavesShow) {
  Plan plan;
  plan.agents.resize(5);
  plan.agents[4].is_function = true;
  plan.n_together = 4;
  plan.waves = {{{0, 1, 2, 4}, 0, 10}, {{3}, 1, 10}};
  EXPECT_EQ(order_of(plan),
            "waves of at most 3 agents; in a run each starts as soon as what it needs is done");
  plan.waves[1].stage = 0;  // no needs: the cells do not suffice for the fourth
  EXPECT_EQ(order_of(plan),
            "waves of at most 3 agents; in a run each starts as soon as there is room for it");
  plan.n_together = 3;
  EXPECT_EQ(order_of(plan),
            "at most 3 agents at once; the others queue, and come as soon as there is room");
  plan.waves = {{{0, 1, 2, 4}, 0, 10}};
  EXPECT_EQ(order_of(plan), "at most 3 agents at once");
  plan.waves = {{{0}, 0, 10}, {{1}, 1, 10}, {{2, 4}, 2, 10}};
  EXPECT_EQ(order_of(plan), "one agent after another");
  plan.n_together = 1;
  EXPECT_EQ(order_of(plan), "one agent at a time");
}

TEST(PlanReport, OnOneLineIsTheSameObject) {
  const std::string line = to_json_line(contract_review());
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto dense = [](std::string text) {
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
    return text;
  };
  EXPECT_EQ(dense(line), dense(to_json(contract_review())));
}

TEST(PlanReport, HasColoursOnlyIfAskedFor) {
  EXPECT_EQ(to_text(contract_review(), false).find('\x1b'), std::string::npos);
  EXPECT_NE(to_text(contract_review(), true).find("\x1b[1m"), std::string::npos);
}

TEST(PlanReport, OfNothingIsStillAReport) {
  const Plan nothing;
  EXPECT_NE(to_text(nothing, false).find("0 agents"), std::string::npos);
  EXPECT_EQ(to_dot(nothing), "digraph plan {\n  label=\"\";\n  rankdir=LR;\n}\n");
  EXPECT_NE(to_json(nothing).find("\"agents\": []"), std::string::npos);
}

}  // namespace
}  // namespace swarmkv
