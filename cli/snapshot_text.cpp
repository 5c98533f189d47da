#include "cli/snapshot_text.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "cli/progress_render.h"

namespace swarmkv::cli {
namespace {

// " (77.0 MiB, 0.2 s)", as far as it is known.
std::string size_and_time(const Event& event) {
  std::string out = event.size_bytes > 0 ? size_text(event.size_bytes) : "";
  if (event.ms > 0) {
    const int n_decimals = event.ms < 1000 ? 2 : 1;
    out += fmt::format("{}{:.{}f} s", out.empty() ? "" : ", ", event.ms / 1000, n_decimals);
  }
  return out.empty() ? out : " (" + out + ")";
}

}  // namespace

std::string size_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 6> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return fmt::format("{:.{}f} {}", value, unit == 0 ? 0 : 1, kUnits[unit]);
}

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

std::string snapshot_news(const Event& event) {
  const bool is_restored = event.type == EventType::kSnapshotRestored;
  if (event.type == EventType::kSnapshotRejected) return "rejected: " + event.text;
  if (!is_restored && event.type != EventType::kSnapshotSaved) return "";
  std::string out = is_restored ? "restored" : "saved";
  if (event.n_tokens > 0) out += " " + with_commas(event.n_tokens) + " tokens";
  if (!event.text.empty()) out += (is_restored ? " from " : " to ") + file_name(event.text);
  return out + size_and_time(event);
}

std::string snapshot_note(const Event& event) {
  if (event.type == EventType::kSnapshotSaved) return "saved" + size_and_time(event);
  if (event.type != EventType::kSnapshotRestored) return snapshot_news(event);
  const bool is_part = event.n_tokens < event.n_total;
  return (is_part ? with_commas(event.n_tokens) + " restored" : "restored") + size_and_time(event);
}

}  // namespace swarmkv::cli
