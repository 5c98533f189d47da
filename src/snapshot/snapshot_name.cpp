#include "snapshot/snapshot_name.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <random>

#include "base/digest.h"
#include "snapshot/layout.h"
#include "snapshot/shown.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

bool is_digest(std::string_view text) {
  return text.size() == kNameDigestDigits && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

// As temporary_name() makes them; other programs hide files in this way, too.
bool is_temporary(std::string_view name) {
  if (!name.starts_with(kTemporaryPrefix)) return false;
  name.remove_prefix(kTemporaryPrefix.size());
  const std::size_t dash = name.find('-');
  if (dash == 0 || dash == std::string_view::npos) return false;
  const std::string_view pid = name.substr(0, dash);
  return pid.find_first_not_of("0123456789") == std::string_view::npos &&
         is_digest(name.substr(dash + 1));
}

}  // namespace

std::optional<SnapshotName> parse_snapshot_name(std::string_view name) {
  if (!name.ends_with(kSnapshotSuffix)) return std::nullopt;
  name.remove_suffix(kSnapshotSuffix.size());
  if (name.size() < 2 * kNameDigestDigits + 3) return std::nullopt;

  SnapshotName out;
  out.token_digest = name.substr(0, kNameDigestDigits);
  out.key = name.substr(name.size() - kNameDigestDigits);
  const std::string_view middle =
      name.substr(kNameDigestDigits, name.size() - 2 * kNameDigestDigits);
  if (!is_digest(out.token_digest) || !is_digest(out.key)) return std::nullopt;
  if (middle.front() != '-' || middle.back() != '-' || middle[1] == '0') return std::nullopt;
  const char* end = middle.data() + middle.size() - 1;
  const auto number = std::from_chars(middle.data() + 1, end, out.n_tokens);
  if (number.ec != std::errc() || number.ptr != end || out.n_tokens > kSnapshotMostTokens) {
    return std::nullopt;
  }
  return out;
}

std::string snapshot_key(const SnapshotIdentity& identity, const SnapshotArithmetic& arithmetic) {
  SnapshotAbout about{.identity = identity, .arithmetic = arithmetic};
  std::string text = fmt::format("{} {}", kSnapshotVersion, arithmetic.deterministic ? 1 : 0);
  for (const SnapshotText& field : kSnapshotTexts) {
    // The labels among them are empty here: they are not part of what a file is.
    const std::string& value = field.in(about);
    text += fmt::format(" {}:{}", value.size(), value);
  }
  return digest64(text);
}

std::string snapshot_name(const SnapshotAbout& about, const std::string& token_digest,
                          std::uint64_t n_tokens) {
  return fmt::format("{}-{}-{}{}", token_digest.substr(0, kNameDigestDigits), n_tokens,
                     snapshot_key(about.identity, about.arithmetic), kSnapshotSuffix);
}

std::string temporary_name() {
  std::random_device random;
  return fmt::format("{}{}-{:08x}{:08x}", kTemporaryPrefix, ::getpid(), random(), random());
}

NameKind kind_of_name(std::string_view name) {
  if (is_temporary(name)) return NameKind::kTemporary;
  if (name.ends_with(kSnapshotSuffix)) return NameKind::kSnapshot;
  if (name.ends_with(kDamagedSuffix) &&
      name.substr(0, name.size() - kDamagedSuffix.size()).ends_with(kSnapshotSuffix)) {
    return NameKind::kDamaged;
  }
  return NameKind::kOther;
}

bool is_listed_name(std::string_view name) {
  const NameKind kind = kind_of_name(name);
  return kind == NameKind::kSnapshot || kind == NameKind::kDamaged;
}

void check_snapshot_name(std::string_view name) {
  constexpr std::size_t kMostBytes = 255;  // of a file's name, on every usual file system
  const auto fail = [&](const std::string& why) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("[snapshot.name] '{}' is no snapshot's name: {}", shown(name), why));
  };
  if (name.empty()) fail("it is empty");
  if (name == "." || name == "..") fail("it is a folder");
  if (name.size() > kMostBytes) {
    fail(fmt::format("{} bytes long, at most {} can be", name.size(), kMostBytes));
  }
  if (name.find('/') != std::string_view::npos) fail("it has a '/'");
  if (std::any_of(name.begin(), name.end(),
                  [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; })) {
    fail("it has a control character");
  }
}

}  // namespace swarmkv::internal
