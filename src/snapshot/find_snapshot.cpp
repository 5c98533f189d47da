#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/digest.h"
#include "snapshot/snapshot_error.h"
#include "snapshot/snapshot_folder.h"

namespace swarmkv::internal {
namespace {

struct Candidate {
  std::string name;
  SnapshotName parsed;
};

// Files whose name says that their tokens begin the query's, the longest first.
std::vector<Candidate> candidates(const OpenFolder& folder, const SnapshotQuery& query) {
  std::vector<Candidate> all;
  for (std::string& name : folder.names()) {
    auto parsed = parse_snapshot_name(name);
    if (!parsed || parsed->n_tokens < query.least_tokens ||
        parsed->n_tokens > query.tokens.size()) {
      continue;
    }
    all.push_back({std::move(name), std::move(*parsed)});
  }
  std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return a.parsed.n_tokens < b.parsed.n_tokens;
  });

  // One pass over the tokens, with a stop at every length that a file has.
  std::vector<Candidate> matching;
  RunningDigest digest;
  std::uint64_t n_digested = 0;
  std::string prefix;
  for (Candidate& candidate : all) {
    const std::uint64_t n = candidate.parsed.n_tokens;
    if (n != n_digested) {
      digest.add(bytes_of(query.tokens.subspan(n_digested, n - n_digested)));
      n_digested = n;
      prefix = digest.digest().substr(0, kNameDigestDigits);
    }
    if (candidate.parsed.token_digest == prefix) matching.push_back(std::move(candidate));
  }

  const std::string key = snapshot_key(query.identity, query.arithmetic);
  std::sort(matching.begin(), matching.end(), [&](const Candidate& a, const Candidate& b) {
    const auto rank = [&](const Candidate& c) {
      return std::tuple<std::int64_t, bool, const std::string&>(
          -static_cast<std::int64_t>(c.parsed.n_tokens), c.parsed.key != key, c.name);
    };
    return rank(a) < rank(b);
  });
  return matching;
}

std::optional<std::string> why_not(const SnapshotHeader& header, const SnapshotQuery& query) {
  if (auto difference = first_difference(header.about.identity, query.identity)) return difference;
  if (!query.bit_equal) return std::nullopt;
  return first_difference(header.about.arithmetic, query.arithmetic);
}

// errors  SnapshotError
SnapshotFile open_verified(const OpenFolder& folder, const Candidate& candidate,
                           const SnapshotQuery& query) {
  SnapshotFile file(folder.open(candidate.name), folder.path_of(candidate.name));
  if (const auto difference = why_not(file.header(), query)) {
    throw SnapshotError(ErrorCode::kMismatch, file.path(), "identity", *difference);
  }
  const auto tokens = file.tokens();
  const auto wanted = query.tokens.first(std::min(tokens.size(), query.tokens.size()));
  if (tokens.size() != candidate.parsed.n_tokens ||
      !std::equal(tokens.begin(), tokens.end(), wanted.begin(), wanted.end())) {
    throw SnapshotError(ErrorCode::kCorrupt, file.path(), "tokens", kNotAsNamed);
  }
  file.verify();
  return file;
}

// Of a file that was found, what else there is matters no more, unless it could have been longer.
void keep_what_matters(std::vector<RejectedSnapshot>& rejected, std::uint64_t n_found) {
  std::erase_if(rejected, [&](const RejectedSnapshot& r) {
    return r.code == ErrorCode::kMismatch && r.n_tokens <= n_found;
  });
}

}  // namespace

FoundSnapshot SnapshotFolder::find_longest(const SnapshotQuery& query) const {
  FoundSnapshot out;
  for (const Candidate& candidate : candidates(folder_, query)) {
    try {
      out.file.emplace(open_verified(folder_, candidate, query));
      out.file->touch();
      keep_what_matters(out.rejected, candidate.parsed.n_tokens);
      return out;
    } catch (const SnapshotError& error) {
      if (error.code() == ErrorCode::kUnreadable && !folder_.exists(candidate.name)) continue;
      out.rejected.push_back(
          {.name = candidate.name,
           .path = folder_.path_of(candidate.name),
           .code = error.code(),
           .reason = error.code() == ErrorCode::kMismatch ? error.reason() : error.text(),
           .n_tokens = candidate.parsed.n_tokens,
           .set_aside = error.code() == ErrorCode::kCorrupt && set_aside(candidate.name)});
    }
  }
  return out;
}

bool SnapshotFolder::set_aside(const std::string& name) const noexcept {
  if (kind_of_name(name) != NameKind::kSnapshot || name.find('/') != std::string::npos)
    return false;
  const std::string damaged = name + std::string(kDamagedSuffix);
  return folder_.calls().rename_at(folder_.fd(), name.c_str(), damaged.c_str()) == 0;
}

}  // namespace swarmkv::internal
