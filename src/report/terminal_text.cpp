#include <algorithm>
#include <string>

#include "swarmkv/report.h"
#include "text/table.h"
#include "text/utf8.h"

namespace swarmkv {

std::string escape_for_terminal(std::string_view text) { return internal::escape_control(text); }

std::string fit_for_terminal(std::string_view text, std::size_t columns) {
  // A character takes at most four bytes and most take a column: no need to look at a whole answer.
  std::string line(text.substr(0, std::min(text.size(), 8 * columns + 64)));
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return internal::fit_width(internal::escape_control(line), columns);
}

}  // namespace swarmkv
