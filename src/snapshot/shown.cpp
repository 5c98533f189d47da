#include "snapshot/shown.h"

namespace swarmkv::internal {

std::string shown(std::string_view text, std::size_t most_bytes) {
  std::string out(text.substr(0, most_bytes));
  for (char& c : out) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = '?';
  }
  if (text.size() <= most_bytes) return out;
  // Not in the middle of a character.
  while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80) out.pop_back();
  if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xc0) out.pop_back();
  return out + "...";
}

}  // namespace swarmkv::internal
