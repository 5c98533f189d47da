// The part of FakeContext that copies sequences out of the cache and back, byte by byte, so that a
// state that is short by one is noticed.
//
//   state: 8 bytes magic | i32 window_min | i32 spoiled | i32 n | n x i32 token
//   on the device: the same, kept here; what the caller gets is 8 bytes magic | i32 sequence id
#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <string_view>

#include "engine/fake/fake_context.h"

namespace swarmkv::internal {
namespace {

constexpr std::string_view kMagic = "FAKESEQ1";

void put(std::vector<std::uint8_t>& bytes, std::int32_t value) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

class Reader {
 public:
  Reader(const std::vector<std::uint8_t>& bytes, std::size_t limit)
      : bytes_(bytes), limit_(limit) {}
  [[nodiscard]] bool magic() {
    if (limit_ < kMagic.size() || std::memcmp(bytes_.data(), kMagic.data(), kMagic.size()) != 0)
      return false;
    at_ = kMagic.size();
    return true;
  }
  [[nodiscard]] std::optional<std::int32_t> next() {
    std::int32_t value = 0;
    if (limit_ - at_ < sizeof value) return std::nullopt;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  [[nodiscard]] std::size_t n_read() const { return at_; }

 private:
  const std::vector<std::uint8_t>& bytes_;
  std::size_t limit_, at_ = 0;
};

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

void FakeContext::load(const SequenceState& state, SeqId target) {
  check_seq(target, "load");
  check_device(state.where, "load");
  if (cells_.length(target) > 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("[engine.load] target {} is not empty: it has {} positions", target,
                            cells_.length(target)));
  }
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
  const std::size_t limit = faults_->loaded_bytes(whole->size());
  Reader reader(*whole, limit);
  const auto corrupt = [&](std::size_t n_read) {
    return Error(
        ErrorCode::kCorrupt,
        fmt::format("[engine.load] the state has {} bytes, {} were read", whole->size(), n_read));
  };
  if (!reader.magic()) throw corrupt(0);
  const auto window_min = reader.next();
  const auto spoiled = reader.next();
  const auto n = reader.next();
  Tokens tokens;
  while (n && static_cast<std::int32_t>(tokens.size()) < *n) {
    const auto token = reader.next();
    if (!token) throw corrupt(reader.n_read());
    tokens.push_back(*token);
  }
  if (!n || reader.n_read() != whole->size()) throw corrupt(n ? reader.n_read() : 0);
  if (*n != state.length) {
    throw Error(
        ErrorCode::kCorrupt,
        fmt::format("[engine.load] the state has {} positions, {} came back", state.length, *n));
  }
  if (!cells_.has_room(*n)) {
    throw Error(
        ErrorCode::kCorrupt,
        fmt::format("[engine.load] the state has {} bytes, 0 were read: no room for {} cells",
                    whole->size(), *n));
  }
  cells_.restore(target, tokens, *window_min, *spoiled != 0);
  note_use();
}

}  // namespace swarmkv::internal
