// A prompt seen as one token list without joining its shared prefix and its suffix.
#pragma once

#include <algorithm>
#include <span>

#include "swarmkv/request.h"

namespace swarmkv::internal {

class PromptView {
 public:
  PromptView(std::span<const Token> prefix, std::span<const Token> suffix)
      : prefix_(prefix), suffix_(suffix) {}
  explicit PromptView(const Request& request)
      : prefix_(request.prefix ? std::span<const Token>(*request.prefix)
                               : std::span<const Token>()),
        suffix_(request.suffix) {}

  [[nodiscard]] int size() const { return static_cast<int>(prefix_.size() + suffix_.size()); }

  [[nodiscard]] Token operator[](int i) const {
    const auto at = static_cast<std::size_t>(i);
    return at < prefix_.size() ? prefix_[at] : suffix_[at - prefix_.size()];
  }

  /// Tokens [from, to) as an own list.
  [[nodiscard]] Tokens copy(int from, int to) const {
    Tokens out;
    out.reserve(static_cast<std::size_t>(std::max(0, to - from)));
    for (int i = from; i < to; ++i) out.push_back((*this)[i]);
    return out;
  }

  /// How many tokens of `other` equal this prompt's from `from` on, looking no further than
  /// `limit`.
  [[nodiscard]] int common(int from, int limit, std::span<const Token> other) const {
    int n = compare(prefix_, from, limit, other);
    const int n_prefix = static_cast<int>(prefix_.size());
    if (from + n < n_prefix || n == static_cast<int>(other.size())) return n;
    const auto done = static_cast<std::size_t>(n);
    return n + compare(suffix_, from + n - n_prefix, limit - n_prefix, other.subspan(done));
  }

 private:
  static int compare(std::span<const Token> mine, int from, int limit,
                     std::span<const Token> other) {
    const int room = std::min(limit, static_cast<int>(mine.size())) - from;
    if (room <= 0) return 0;
    const auto n = std::min<std::size_t>(static_cast<std::size_t>(room), other.size());
    const auto begin = mine.begin() + from;
    return static_cast<int>(
        std::mismatch(begin, begin + static_cast<std::ptrdiff_t>(n), other.begin()).first - begin);
  }

  std::span<const Token> prefix_, suffix_;
};

}  // namespace swarmkv::internal
