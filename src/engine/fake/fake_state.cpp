// The part of FakeContext that copies sequences out of the cache and back, byte by byte, so that a
// state that is short by one is noticed.
//
//   state: 8 bytes magic | i32 window_min | i32 spoiled | i32 n | n x i32 token
//   on the device: the same, kept here; what the caller gets is 8 bytes magic | i32 sequence id
#include <fmt/format.h>

#include <cstring>
#include <string_view>

#include "engine/fake/fake_engine.h"
#include "engine/fake/fake_vocab.h"
#include "engine/kv_bytes.h"

namespace swarmkv::internal {
namespace {

constexpr std::string_view kMagic = "FAKESEQ1";

void put(std::vector<std::uint8_t>& bytes, std::int32_t value) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

// What a state says, all of it checked: the counterpart of a look at every number.
struct FakeState {
  Pos window_min = 0;
  bool spoiled = false;
  Tokens tokens;
};

// `limit`: bytes that are there, which a fault may make fewer.
FakeState read_state(StateBytes bytes, std::size_t limit, Pos length, const char* operation) {
  std::size_t at = 0;
  const auto corrupt = [&](const std::string& what) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("[engine.{}] the state has {} bytes, {} were read: {}", operation,
                             bytes.size(), at, what));
  };
  if (limit < kMagic.size() || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
    throw corrupt("no magic");
  }
  at = kMagic.size();
  const auto next = [&](const char* what) {
    std::int32_t value = 0;
    if (limit - at < sizeof value) throw corrupt(fmt::format("{} is cut off", what));
    std::memcpy(&value, bytes.data() + at, sizeof value);
    at += sizeof value;
    return value;
  };
  FakeState state;
  state.window_min = next("the window's begin");
  const std::int32_t spoiled = next("the mark of a spoiled state");
  const std::int32_t n = next("the count");
  if (n != length) {
    throw corrupt(fmt::format("the state has {} positions, {} came back", length, n));
  }
  if (state.window_min < 0 || state.window_min > n || spoiled < 0 || spoiled > 1) {
    throw corrupt(fmt::format("window from {}, spoiled {}", state.window_min, spoiled));
  }
  state.spoiled = spoiled == 1;
  for (std::int32_t i = 0; i < n; ++i) {
    const Token token = next("a token");
    if (token < 0 || token >= kFakeVocabSize) {
      throw corrupt(fmt::format("cell {} holds {}, which is no token", i, token));
    }
    state.tokens.push_back(token);
  }
  if (at != bytes.size()) throw corrupt(fmt::format("{} are left over", bytes.size() - at));
  return state;
}

}  // namespace

void FakeContext::check_device(Where where, const char* operation) const {
  if (where != Where::kDevice || !faults_->no_device()) return;
  throw Error(ErrorCode::kUnsupported,
              fmt::format("[engine.{}] the fake engine was told to have no "
                          "device",
                          operation));
}

std::vector<std::uint8_t> FakeContext::whole_state(SeqId seq) const {
  std::vector<std::uint8_t> bytes(kMagic.begin(), kMagic.end());
  put(bytes, cells_.window_min(seq));
  put(bytes, cells_.spoiled(seq) ? 1 : 0);
  put(bytes, cells_.length(seq));
  for (const Token token : cells_.tokens(seq)) put(bytes, token);
  return bytes;
}

std::uint64_t FakeContext::state_size(SeqId seq, Where where) const {
  check_seq(seq, "state_size");
  return where == Where::kDevice ? kMagic.size() + sizeof(std::int32_t) : whole_state(seq).size();
}

SequenceState FakeContext::save(SeqId seq, Where where) {
  check_seq(seq, "save");
  check_device(where, "save");
  SequenceState state;
  state.where = where;
  state.length = cells_.length(seq);
  if (state.length == 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("[engine.save] sequence {} is empty", seq));
  }
  std::vector<std::uint8_t> whole = whole_state(seq);
  state.size_bytes = whole.size();
  const std::size_t n = faults_->saved_bytes(whole.size());
  if (n != whole.size()) {
    throw Error(
        ErrorCode::kEngineFailed,
        fmt::format("[engine.save] sequence {} of {} tokens: announced {} bytes and wrote {}", seq,
                    state.length, whole.size(), n));
  }
  if (where == Where::kHost) {
    state.bytes = std::move(whole);
    return state;
  }
  state.bytes.assign(kMagic.begin(), kMagic.end());
  put(state.bytes, seq);
  state.keeper = identity_;
  state.n_save = device_saves_[seq] = ++n_device_saves_;
  device_[seq] = std::move(whole);
  return state;
}

void FakeContext::check_empty(SeqId target) const {
  check_seq(target, "load");
  if (cells_.length(target) == 0) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("[engine.load] target {} is not empty: it has {} positions", target,
                          cells_.length(target)));
}

void FakeContext::load(const SequenceState& state, SeqId target) {
  check_empty(target);
  check_device(state.where, "load");
  const std::vector<std::uint8_t>* whole = &state.bytes;
  if (state.where == Where::kDevice) {
    whole = nullptr;
    for (const auto& [seq, n_save] : device_saves_) {
      if (state.keeper == identity_ && n_save == state.n_save) whole = &device_.at(seq);
    }
    if (whole == nullptr) {
      throw Error(ErrorCode::kInvalidArgument,
                  "[engine.load] this state is on the device of another context, or its place was "
                  "saved over");
    }
  }
  load_whole(*whole, state.length, target);
}

void FakeContext::load(StateBytes bytes, Pos length, SeqId target) {
  check_empty(target);
  load_whole(bytes, length, target);
}

void FakeContext::load_whole(StateBytes whole, Pos length, SeqId target) {
  const std::size_t limit = faults_->loaded_bytes(whole.size());
  const FakeState state = read_state(whole, limit, length, "load");
  if (!cells_.has_room(length)) {
    throw Error(
        ErrorCode::kCorrupt,
        fmt::format("[engine.load] the state has {} bytes, 0 were read: no room for {} cells",
                    whole.size(), length));
  }
  cells_.restore(target, state.tokens, state.window_min, state.spoiled);
  note_use();
}

StateIdentity FakeContext::identity() {
  StateIdentity identity;
  identity.arch = "fake";
  identity.cache_type_k = to_string(options_.type_k);
  identity.cache_type_v = to_string(options_.type_v);
  const bool columns = options_.flash_attention == FlashAttention::kOff && !options_.deterministic;
  identity.value_layout = columns ? "columns" : "rows";
  identity.rope = "model";
  identity.kv_rotation = "none";
  identity.lora = "none";
  identity.engine = "fake";
  identity.state_format = kMagic;
  return identity;
}

void FakeModel::check_state(StateBytes bytes, Pos length) const {
  (void)read_state(bytes, bytes.size(), length, "state");
}

}  // namespace swarmkv::internal
