#include "text/nearest.h"

#include <algorithm>
#include <vector>

namespace swarmkv::internal {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
  const std::size_t too_far = limit + 1;
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit) return too_far;
  // Three rows of the table: before[j] and last[j] for a[0, i-2) and a[0, i-1), row[j] for a[0, i).
  std::vector<std::size_t> before(b.size() + 1, too_far), last(before), row(before);
  for (std::size_t j = 0; j <= std::min(b.size(), limit); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    std::fill(row.begin(), row.end(), too_far);
    if (i <= limit) row[0] = i;
    // Further than `limit` off the diagonal nothing can come back under it.
    const std::size_t from = i > limit ? i - limit : 1;
    const std::size_t to = std::min(b.size(), i + limit);
    for (std::size_t j = from; j <= to; ++j) {
      const bool same = a[i - 1] == b[j - 1];
      std::size_t best = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        best = std::min(best, before[j - 2] + 1);
      }
      row[j] = std::min(best, too_far);
    }
  }
  return row[b.size()];
}

}  // namespace swarmkv::internal

namespace swarmkv {

std::optional<std::string> nearest_name(std::string_view word,
                                        std::span<const std::string> candidates) {
  const std::string wanted = internal::lower(word);
  std::size_t limit = std::min<std::size_t>(3, (word.size() + 1) / 3);
  std::optional<std::string> nearest;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = internal::edit_distance(wanted, internal::lower(candidate), limit);
    if (distance > limit) continue;
    nearest = candidate;
    if (distance == 0) break;
    limit = distance - 1;
  }
  return nearest;
}

}  // namespace swarmkv
