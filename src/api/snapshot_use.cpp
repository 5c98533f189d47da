// The run's beginning: what earlier runs left.
#include "api/snapshot_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

#include "api/snapshot_parts.h"
#include "base/clock.h"
#include "swarmkv/snapshot.h"

namespace swarmkv::internal {
namespace {

constexpr int kMostTries = 8;  // damaged files of one prefix that are set aside in one run

SnapshotIdentity identity_of(const StateIdentity& state, std::string fingerprint) {
  return {std::move(fingerprint), state.arch,        state.cache_type_k, state.cache_type_v,
          state.value_layout,     state.rope,        state.kv_rotation,  state.lora,
          state.engine,           state.state_format};
}

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

}  // namespace

SnapshotUse::SnapshotUse(SnapshotContext context, SnapshotOptions options)
    : context_(std::move(context)),
      options_(std::move(options)),
      plan_(plan_snapshots(context_.prepared, options_.use)),
      uses_(plan_.targets.size()),
      progress_(std::make_shared<Progress>()) {
  if (plan_.files.empty()) return;
  if (!context_.runner.takes_stored_prefixes()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("[snapshot.use] '{}' is only of use with handoff shared, which is {}",
                            plan_.files.front().path, context_.handoff));
  }
  learn_identity();
  for (const NamedSnapshot& file : plan_.files) open_named(file);
}

SnapshotUse::~SnapshotUse() {
  const MutexLock lock(progress_->mutex);
  progress_->closed = true;
}

void SnapshotUse::learn_identity() {
  if (!identity_.model_fingerprint.empty()) return;
  const StateIdentity state = context_.runner.state_identity();
  identity_ = identity_of(state, context_.prepared.model->fingerprint());
}

SnapshotArithmetic SnapshotUse::arithmetic(const SnapshotTarget& target, int n) const {
  if (!is_deterministic()) return {};
  const std::string kernel =
      exact_kernel(context_.runner.attention().kernel, context_.attention_target);
  return {true, recipe_of(target, n, context_.runner.grid(), kernel)};
}

// Of a window's part only the window comes back, in other cells than those it was computed in. Sums
// in another order are as good, but not the same bits.
int SnapshotUse::most_exact_tokens() const {
  const ModelInfo& model = context_.prepared.model->info();
  const bool moves = is_deterministic() && model.fork_kind == ForkKind::kWindow;
  return moves ? model.n_swa : std::numeric_limits<int>::max();
}

void SnapshotUse::begin() {
  const auto is_auto = [](const SnapshotTarget& target) { return target.is_auto; };
  if (std::none_of(plan_.targets.begin(), plan_.targets.end(), is_auto)) return;
  std::string skipped;
  try {
    if (context_.runner.takes_stored_prefixes()) {
      learn_identity();
      open_store();
      for (std::size_t i = 0; i < uses_.size(); ++i) {
        if (plan_.targets[i].is_auto) look_up(i);
      }
      return;
    }
    skipped = "off: handoff is " + context_.handoff;
  } catch (const std::exception& e) {
    skipped = e.what();
    warn("SK608", "snapshots are not used: " + skipped);
  }
  for (TargetUse& use : uses_) use.skipped = skipped;
}

void SnapshotUse::open_store() {
  folder_ = std::make_shared<const SnapshotFolder>(
      options_.folder.empty() ? SnapshotStore::default_folder() : options_.folder,
      *context_.host.calls);
}

// In deterministic mode how a state came about differs with its length, so each length is asked for
// by itself; snapshots end where documents do.
FoundSnapshot SnapshotUse::find(const SnapshotTarget& target) const {
  SnapshotQuery query;
  query.identity = identity_;
  query.tokens = *target.tokens;
  if (!is_deterministic()) return folder_->find_longest(query);
  FoundSnapshot all;
  query.bit_equal = true;
  for (auto end = target.document_ends.rbegin(); end != target.document_ends.rend(); ++end) {
    if (*end > most_exact_tokens()) continue;
    query.tokens = std::span<const Token>(*target.tokens).first(static_cast<std::size_t>(*end));
    query.least_tokens = static_cast<std::uint64_t>(*end);
    query.arithmetic = arithmetic(target, *end);
    FoundSnapshot found = folder_->find_longest(query);
    std::move(found.rejected.begin(), found.rejected.end(), std::back_inserter(all.rejected));
    if (!found.file) continue;
    all.file = std::move(found.file);
    break;
  }
  return all;
}

void SnapshotUse::look_up(std::size_t i) {
  const SnapshotTarget& target = plan_.targets[i];
  for (int tries = 0; tries < kMostTries; ++tries) {
    const TimePoint before = now();
    FoundSnapshot found = find(target);
    for (const RejectedSnapshot& file : found.rejected) note_rejected(i, file);
    if (!found.file) break;
    const auto n = static_cast<Pos>(found.file->header().n_tokens);
    try {
      context_.prepared.model->check_state(found.file->state(), n);
    } catch (const Error& e) {
      // Whole, and yet no state: its checksum was made over damage.
      const std::string path = found.file->path();
      found.file.reset();
      const bool is_gone = folder_->set_aside(base_name(path));
      note_rejected(i, {base_name(path), path, ErrorCode::kCorrupt,
                        std::string("state: ") + e.what(), static_cast<std::uint64_t>(n), is_gone});
      if (!is_gone) break;
      continue;
    }
    offer(i, std::move(*found.file), 1000 * seconds(before, now()), true);
    break;
  }
  if (target.n_tokens() <= most_exact_tokens()) {
    want_state(i);
  } else {
    uses_[i].skipped = kNotExactSnapshot;
  }
}

void SnapshotUse::note_rejected(std::size_t target, const RejectedSnapshot& file) {
  std::vector<RejectedSnapshot>& known = uses_[target].rejected;
  const auto is_same = [&](const RejectedSnapshot& other) { return other.path == file.path; };
  if (std::none_of(known.begin(), known.end(), is_same)) known.push_back(file);
  if (!is_news(file.path)) return;
  send(EventType::kSnapshotRejected, target, static_cast<int>(file.n_tokens), file.reason);
  if (file.code == ErrorCode::kMismatch) return;  // sound, but somebody else's
  warn_not_used(file.path, file.reason, file.name, file.set_aside);
}

void SnapshotUse::offer(std::size_t i, SnapshotFile opened, double ms, bool is_ours) {
  const SnapshotTarget& target = plan_.targets[i];
  auto file = std::make_shared<const SnapshotFile>(std::move(opened));
  const auto n = static_cast<int>(file->header().n_tokens);
  for (const TargetUse& other : uses_) {
    for (const auto& known : other.offered) {
      if (known->path != file->path()) continue;
      uses_[i].offered.push_back(known);
      return;
    }
  }
  auto offered = std::make_shared<Offered>();
  offered->path = file->path();
  offered->name = is_ours ? base_name(file->path()) : "";
  offered->documents = names_in(context_.prepared, target, n);
  offered->n_tokens = n;
  offered->size_bytes = file->header().file_bytes;
  offered->state_bytes = file->header().state_bytes;
  offered->find_ms = ms;

  StoredPrefix stored;
  stored.tokens = n == target.n_tokens() ? target.tokens
                                         : std::make_shared<const Tokens>(
                                               target.tokens->begin(), target.tokens->begin() + n);
  stored.state = file->state();
  for (const int cut : target.cuts) {
    if (cut < n) stored.cuts.push_back(cut);
  }
  Event event = event_of(i, n);
  event.type = EventType::kSnapshotRestored;
  event.text = file->path();
  event.size_bytes = offered->size_bytes;
  stored.owner = std::move(file);
  stored.on_restore = [offered, bus = context_.bus, event](double load_ms,
                                                           const std::string& error) {
    {
      const MutexLock lock(offered->mutex);
      offered->error = error;
      offered->load_ms += load_ms;
      if (error.empty() && ++offered->n_loads > 1) return;  // it is known already
    }
    Event news = event;
    news.ms = offered->find_ms + load_ms;
    if (!error.empty()) {
      news.type = EventType::kSnapshotRejected;
      news.text = error;
    }
    bus->send(std::move(news));
  };
  offered->offer = context_.runner.offer(std::move(stored));
  uses_[i].offered.push_back(std::move(offered));
}

}  // namespace swarmkv::internal
