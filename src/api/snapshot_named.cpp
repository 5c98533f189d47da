// Files that a document names.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/snapshot_parts.h"
#include "base/clock.h"

namespace swarmkv::internal {
namespace {

[[noreturn]] void refuse(ErrorCode code, const std::string& path, const std::string& what) {
  throw Error(code, fmt::format("[snapshot.use] '{}': {}", path, what));
}

// How many of the file's tokens the target has at its beginning.
std::size_t n_equal(const SnapshotFile& file, const SnapshotTarget& target) {
  const auto tokens = file.tokens();
  const auto n = std::min(tokens.size(), target.tokens->size());
  const auto end = tokens.begin() + static_cast<std::ptrdiff_t>(n);
  return static_cast<std::size_t>(std::mismatch(tokens.begin(), end, target.tokens->begin()).first -
                                  tokens.begin());
}

}  // namespace

// Whoever names a file wants this one, so everything about it has to be right before anything runs.
void SnapshotUse::open_named(const NamedSnapshot& named) {
  const TimePoint before = now();
  SnapshotFile file = SnapshotFile::open(named.path, *context_.host.calls);
  const SnapshotHeader& header = file.header();
  if (const auto other = first_difference(header.about.identity, identity_)) {
    refuse(ErrorCode::kMismatch, named.path, *other);
  }
  const std::string& document = context_.prepared.documents[named.document].name;
  std::size_t n_most = 0;
  std::vector<std::size_t> fitting;
  for (const std::size_t target : named.targets) {
    const std::size_t n = n_equal(file, plan_.targets[target]);
    n_most = std::max(n_most, n);
    if (n == header.n_tokens) fitting.push_back(target);
  }
  if (fitting.empty()) {
    refuse(ErrorCode::kMismatch, named.path,
           fmt::format("tokens: it holds {}, of which the first {} are those of '{}' and what "
                       "stands before it",
                       header.n_tokens, n_most, document));
  }
  if (header.n_tokens > static_cast<std::uint64_t>(most_exact_tokens())) {
    refuse(ErrorCode::kUnsupported, named.path, kNotExactSnapshot);
  }
  if (is_deterministic()) {
    const auto n = static_cast<int>(header.n_tokens);
    const SnapshotArithmetic here = arithmetic(plan_.targets[fitting.front()], n);
    if (const auto other = first_difference(header.about.arithmetic, here)) {
      refuse(ErrorCode::kMismatch, named.path, "answers would not be bit-equal: " + *other);
    }
  }
  file.verify();
  try {
    context_.prepared.model->check_state(file.state(), static_cast<Pos>(header.n_tokens));
  } catch (const Error& e) {
    refuse(ErrorCode::kCorrupt, named.path, e.what());
  }
  const double ms = 1000 * seconds(before, now());
  offer(fitting.front(), std::move(file), ms, false);
  for (std::size_t i = 1; i < fitting.size(); ++i) {
    uses_[fitting[i]].offered.push_back(uses_[fitting.front()].offered.back());
  }
}

}  // namespace swarmkv::internal
