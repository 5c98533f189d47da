#include "api/snapshot_targets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "attention/grouped.h"
#include "base/digest.h"
#include "base/process_info.h"

namespace swarmkv::internal {
namespace {

constexpr std::size_t kMostPointsInFull = 16;
constexpr std::size_t kMostLabelBytes = 400;

std::string setting_of(const Prepared& prepared, std::size_t document, const std::string& use) {
  const DocumentSpec& spec = prepared.pipeline.documents[document];
  const std::string& setting = spec.snapshot.empty() ? use : spec.snapshot;
  return setting.empty() ? "off" : setting;
}

// A path in a pipeline starts at its folder, one of the run's options where the program stands.
std::string path_of(const Prepared& prepared, std::size_t document, const std::string& setting) {
  const bool is_own = !prepared.pipeline.documents[document].snapshot.empty();
  return is_own ? resolve_path(prepared.pipeline.folder, setting) : setting;
}

std::size_t add_target(SnapshotPlan& plan, const Prepared& prepared, const ReadList& list,
                       std::size_t n_documents) {
  const int end = list.end(n_documents - 1);
  SnapshotTarget target;
  target.list = static_cast<std::size_t>(&list - prepared.read_lists.data());
  target.tokens = list.prefix.tokens;
  if (end < list.n_tokens()) {
    target.tokens =
        std::make_shared<const Tokens>(target.tokens->begin(), target.tokens->begin() + end);
  }
  for (std::size_t i = 0; i < n_documents; ++i) {
    target.contents.push_back(list.documents[i]);
    target.document_ends.push_back(list.end(i));
  }
  for (const int point : list.fork_points) {
    if (point < end) target.cuts.push_back(point);
  }
  const auto same = std::find_if(plan.targets.begin(), plan.targets.end(), [&](const auto& other) {
    return *other.tokens == *target.tokens;
  });
  if (same != plan.targets.end()) return static_cast<std::size_t>(same - plan.targets.begin());
  plan.targets.push_back(std::move(target));
  return plan.targets.size() - 1;
}

void add_file(SnapshotPlan& plan, std::string path, std::size_t document, std::size_t target) {
  auto known = std::find_if(plan.files.begin(), plan.files.end(),
                            [&](const NamedSnapshot& file) { return file.document == document; });
  if (known == plan.files.end()) {
    known = plan.files.insert(plan.files.end(), {std::move(path), document, {}});
  }
  known->targets.push_back(target);
}

}  // namespace

SnapshotPlan plan_snapshots(const Prepared& prepared, const std::string& use) {
  SnapshotPlan plan;
  for (const ReadList& list : prepared.read_lists) {
    std::vector<std::string> settings;
    std::size_t n_documents = 0;  // up to the last one that has snapshots
    for (const std::size_t document : list.documents) {
      settings.push_back(setting_of(prepared, document, use));
      if (settings.back() != "off") n_documents = settings.size();
    }
    if (n_documents == 0) continue;
    const std::size_t at = add_target(plan, prepared, list, n_documents);
    SnapshotTarget& target = plan.targets[at];
    for (std::size_t i = 0; i < n_documents; ++i) {
      if (settings[i] == "off") continue;
      const std::size_t document = list.documents[i];
      const auto& known = target.documents;
      if (std::find(known.begin(), known.end(), document) == known.end()) {
        target.documents.push_back(document);
      }
      if (settings[i] == "auto") {
        target.is_auto = true;
      } else {
        add_file(plan, path_of(prepared, document, settings[i]), document, at);
      }
    }
  }
  return plan;
}

std::vector<std::string> names_in(const Prepared& prepared, const SnapshotTarget& target, int n) {
  if (n < target.document_ends.front()) n = target.n_tokens();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < target.contents.size() && target.document_ends[i] <= n; ++i) {
    names.push_back(prepared.documents[target.contents[i]].name);
  }
  return names;
}

std::string label_of(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0 && out.size() + names[i].size() > kMostLabelBytes) {
      return out + fmt::format(" + {} more", names.size() - i);
    }
    out += (i > 0 ? " + " : "") + names[i];
  }
  return out;
}

std::string exact_kernel(std::string kernel, const std::string& target) {
  if (kernel == "grouped") kernel += fmt::format("-{}", kGroupedKernelVersion);
  return target.empty() ? kernel : kernel + ":" + target;
}

std::string recipe_of(const SnapshotTarget& target, int n, int grid, const std::string& kernel) {
  if (grid == 0) return fmt::format("any pieces, attention={} cpu={}", kernel, cpu_name());
  std::vector<int> points;  // multiples of the grid are cuts of every prefix
  for (const int cut : target.cuts) {
    if (cut < n && cut % grid != 0) points.push_back(cut);
  }
  const std::string text = points.size() <= kMostPointsInFull
                               ? fmt::format("{}", fmt::join(points, ","))
                               : std::to_string(points.size()) + ":" + digest64(bytes_of(points));
  return fmt::format("grid={} points={} attention={} cpu={}", grid, text, kernel, cpu_name());
}

}  // namespace swarmkv::internal
