// Writes the report of nine agents in every format into a folder: page_test.py opens the page, and
// a person may look at all of them.   write_sample_pages FOLDER
#include <fstream>
#include <iostream>

#include "report/nine_agents.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_sample_pages FOLDER\n";
    return 2;
  }
  const std::string folder = std::string(argv[1]) + "/";
  const auto write = [&folder](const char* name, const std::string& text) {
    std::ofstream(folder + name, std::ios::binary) << text;
  };
  swarmkv::RunReport report = swarmkv::testing::nine_agents_report();
  write("nine.html", to_html(report));
  write("nine.md", to_markdown(report));
  write("nine.csv", to_csv(report));
  write("nine.trace.json", to_trace(report));
  write("two_places.html", to_html(swarmkv::testing::two_places_report()));
  write("restored.html", to_html(swarmkv::testing::restored_report()));
  // Whatever is foreign is hostile.
  const std::string& text = swarmkv::testing::kHostile;
  report.name = report.model_name = report.device = report.status = report.handoff =
      report.attention = report.attention_note = text;
  report.command = {text};
  report.warnings[0] = {text, text, text, text, text};
  report.documents[0].name = report.documents[0].source = text;
  report.documents[0].snapshot = swarmkv::SnapshotReport{text, text, 5, 5, 5, text};
  report.documents[0].snapshot->files = {{text, text, 5, 5, 5, text, {text}},
                                         {"rejected", text, 5, 5, 5, text, {text, text}}};
  for (std::size_t i = 0; i < report.agents.size(); ++i) {
    swarmkv::AgentReport& agent = report.agents[i];
    agent.name = text + std::to_string(i);
    agent.reads = {text};
    agent.text = text + std::string("\0", 1);
    agent.error = agent.skip_reason = agent.reasoning = agent.output_file = text;
  }
  report.critical_path = {"document:" + text, report.agents[1].name};
  write("hostile.html", to_html(report));
  write("empty.html", to_html(swarmkv::RunReport{}));
  return 0;
}
