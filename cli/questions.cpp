#include "cli/questions.h"

#include <sstream>

#include "cli/output.h"

namespace swarmkv::cli {

bool is_blank(const std::string& text) {
  return text.find_first_not_of(" \t\r\n") == std::string::npos;
}

std::vector<std::string> read_questions(const std::string& path) {
  constexpr std::size_t kLargest = std::size_t{64} << 20;
  std::istringstream lines(read_whole(path, kLargest));
  std::vector<std::string> questions;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!is_blank(line)) questions.push_back(line);
  }
  return questions;
}

}  // namespace swarmkv::cli
