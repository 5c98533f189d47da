// llama.cpp's states read by us: what it would take on trust is refused here, and nothing else.
// tests/model/engine_state_test.cpp reads real ones.
#include "engine/kv_state.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::int32_t kF32 = 0, kF16 = 1, kQ8_0 = 8;

/// Writes states as the runtime does, for any number of cells and layers.
struct Writer {
  Bytes bytes;
  std::vector<std::size_t> counts;  ///< where lengths and counts stand

  template <typename T>
  Writer& put(T value) {
    const std::size_t at = bytes.size();
    bytes.resize(at + sizeof value);
    std::memcpy(bytes.data() + at, &value, sizeof value);
    return *this;
  }
  template <typename T>
  Writer& count(T value) {
    counts.push_back(bytes.size());
    return put(value);
  }
  Writer& begin() { return put(std::uint32_t{0xaf143cd8}).put(std::int32_t{3}); }
  Writer& cells(std::uint32_t first, std::uint32_t end, bool ext) {
    count(std::uint32_t{1}).count(end - first);
    for (std::uint32_t i = first; i < end; ++i) {
      put(static_cast<std::int32_t>(i)).count(std::uint32_t{1});
      for (int j = 0; ext && j < 3; ++j) put(std::int32_t{7});
      put(std::int32_t{3});
    }
    return *this;
  }
  Writer& rows(std::int32_t type, std::uint64_t row_bytes, std::uint32_t n) {
    put(type).count(row_bytes);
    bytes.resize(bytes.size() + row_bytes * n, 0x11);
    return *this;
  }
  Writer& attention(std::uint32_t first, std::uint32_t end, std::uint32_t n_layers,
                    std::int32_t type = kF16, std::uint64_t row = 8, bool values = true,
                    bool ext = false) {
    cells(first, end, ext).put(std::uint32_t{0}).count(n_layers);
    for (std::uint32_t i = 0; i < n_layers * (values ? 2 : 1); ++i) rows(type, row, end - first);
    return *this;
  }
  Writer& attention_in_columns(std::uint32_t n, std::uint32_t n_layers, std::uint32_t width) {
    cells(0, n, false).put(std::uint32_t{1}).count(n_layers);
    for (std::uint32_t i = 0; i < n_layers; ++i) rows(kF32, 4 * width, n);
    for (std::uint32_t i = 0; i < n_layers; ++i) {
      put(kF32).count(std::uint32_t{4}).count(width);
      bytes.resize(bytes.size() + std::size_t{4} * width * n, 0x11);
    }
    return *this;
  }
  Writer& recurrent(std::int32_t n, std::uint32_t n_layers) {
    count(std::uint32_t{1}).put(n - 1).count(std::uint32_t{0});
    put(std::uint32_t{0}).put(n_layers);  // not all layers have a tensor
    for (std::uint32_t i = 0; i < n_layers; ++i) rows(kF32, 16, 1);
    return *this;
  }
};

struct Kind {
  const char* name;
  KvStateRules rules;
  Writer state;
  std::size_t n_tensors;
};

std::vector<Kind> every_kind() {
  const auto rules = [](ForkKind kind, Pos n = 5, bool ext = false) {
    return KvStateRules{kind, ext, n};
  };
  std::vector<Kind> all;
  all.push_back({"full", rules(ForkKind::kFull), Writer().begin().attention(0, 5, 3), 6});
  all.push_back({"full in columns", rules(ForkKind::kFull),
                 Writer().begin().attention_in_columns(5, 2, 6), 4});
  all.push_back({"compressed, without V", rules(ForkKind::kFull),
                 Writer().begin().attention(0, 5, 3, kF16, 8, false), 3});
  all.push_back({"positions in the plane", rules(ForkKind::kFull, 5, true),
                 Writer().begin().attention(0, 5, 2, kF16, 8, true, true), 4});
  all.push_back(
      {"quantised", rules(ForkKind::kFull), Writer().begin().attention(0, 5, 2, kQ8_0, 68), 4});
  all.push_back({"window", rules(ForkKind::kWindow),
                 Writer().begin().attention(0, 5, 1).attention(3, 5, 2), 6});
  all.push_back({"window longer than the text", rules(ForkKind::kWindow),
                 Writer().begin().attention(0, 5, 1).attention(0, 5, 2), 6});
  all.push_back({"recurrent", rules(ForkKind::kRecurrent), Writer().begin().recurrent(5, 3), 3});
  all.push_back({"hybrid", rules(ForkKind::kRecurrent),
                 Writer().begin().attention(0, 5, 2).recurrent(5, 4), 8});
  all.push_back({"hybrid with windows", rules(ForkKind::kRecurrent),
                 Writer().begin().attention(0, 5, 2).attention(2, 5, 1).recurrent(5, 4), 10});
  all.push_back({"one token", rules(ForkKind::kFull, 1), Writer().begin().attention(0, 1, 3), 6});
  return all;
}

std::string refusal(const Bytes& bytes, const KvStateRules& rules) {
  try {
    (void)read_kv_state(bytes, rules);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kCorrupt) << e.what();
    return e.what();
  }
  return {};
}

TEST(KvState, ReadsEveryKindAndFindsItsNumbers) {
  for (const Kind& kind : every_kind()) {
    SCOPED_TRACE(kind.name);
    KvStateShape shape;
    ASSERT_NO_THROW(shape = read_kv_state(kind.state.bytes, kind.rules));
    EXPECT_EQ(shape.tensors.size(), kind.n_tensors);
    EXPECT_EQ(shape.transposed_values.has_value(), std::string(kind.name) != "recurrent");
    EXPECT_NO_THROW(check_kv_numbers(kind.state.bytes, shape));
  }
  const auto columns = every_kind()[1];
  EXPECT_EQ(read_kv_state(columns.state.bytes, columns.rules).transposed_values, true);
}

// But for cuts between two tensors, where the bytes could be those of a model with fewer of them:
// the runtime counts them itself.
TEST(KvState, CutAnywhereIsRefused) {
  for (const Kind& kind : every_kind()) {
    const KvStateShape shape = read_kv_state(kind.state.bytes, kind.rules);
    for (std::size_t n = 0; n < kind.state.bytes.size(); ++n) {
      const bool is_between =
          std::any_of(shape.tensors.begin(), shape.tensors.end(),
                      [&](const KvStateTensor& t) { return t.begin + t.n_bytes == n; });
      if (is_between) continue;
      const Bytes cut(kind.state.bytes.begin(),
                      kind.state.bytes.begin() + static_cast<std::ptrdiff_t>(n));
      const std::string why = refusal(cut, kind.rules);
      EXPECT_NE(why.find("state of " + std::to_string(n) + " bytes"), std::string::npos)
          << kind.name << " at " << n << ": " << why;
    }
    Bytes longer = kind.state.bytes;
    longer.push_back(0);
    EXPECT_NE(refusal(longer, kind.rules), "") << kind.name;
  }
}

// A count that is anything but what it was is never the same state.
TEST(KvState, EveryCountIsCheckedBeforeItIsBelieved) {
  for (const Kind& kind : every_kind()) {
    for (const std::size_t at : kind.state.counts) {
      for (const std::uint64_t value :
           {std::uint64_t{0}, std::uint64_t{2}, std::uint64_t{1} << 31, std::uint64_t{1} << 32,
            (std::uint64_t{1} << 63) - 1, ~std::uint64_t{0}}) {
        for (const std::size_t width : {std::size_t{4}, std::size_t{8}}) {
          Bytes changed = kind.state.bytes;
          std::memcpy(changed.data() + at, &value, std::min(width, changed.size() - at));
          if (changed == kind.state.bytes) continue;
          (void)refusal(changed, kind.rules);  // refused or not: no crash, no memory
        }
      }
      Bytes more = kind.state.bytes;
      ++more[at];
      EXPECT_NE(refusal(more, kind.rules), "") << kind.name << ", count at " << at;
    }
  }
}

TEST(KvState, PositionsAreThereOnceEach) {
  const KvStateRules rules{ForkKind::kFull, false, 5};
  const Bytes good = Writer().begin().attention(0, 5, 1).bytes;
  const std::size_t first_cell = 16, cell = 12;
  const auto with_position = [&](std::size_t i, std::int32_t position) {
    Bytes changed = good;
    std::memcpy(changed.data() + first_cell + i * cell, &position, sizeof position);
    return refusal(changed, rules);
  };
  EXPECT_NE(with_position(2, 1).find("position 1 stands there twice"), std::string::npos);
  EXPECT_NE(with_position(2, 5).find("position 5 is not in [0, 5)"), std::string::npos);
  EXPECT_NE(with_position(4, -1).find("position -1"), std::string::npos);
  // In another order they are as good.
  Bytes swapped = good;
  std::swap_ranges(swapped.begin() + first_cell, swapped.begin() + first_cell + 4,
                   swapped.begin() + first_cell + cell);
  EXPECT_EQ(refusal(swapped, rules), "");
  EXPECT_NE(refusal(good, {ForkKind::kFull, false, 6}).find("5 cells for 6 positions"),
            std::string::npos);
  EXPECT_NE(refusal(good, {ForkKind::kFull, false, 0}), "");
}

TEST(KvState, OfAnotherKindOfModelIsRefused) {
  const auto all = every_kind();
  for (const Kind& kind : all) {
    for (const ForkKind other : {ForkKind::kFull, ForkKind::kWindow, ForkKind::kRecurrent}) {
      if (other == kind.rules.kind) continue;
      KvStateRules rules = kind.rules;
      rules.kind = other;
      EXPECT_NE(refusal(kind.state.bytes, rules), "") << kind.name;
    }
  }
}

// The first, a middle and the last number of every tensor, in every type.
TEST(KvState, ANumberThatIsNotFiniteIsFoundWhereverItStands) {
  struct Type {
    std::int32_t type;
    std::uint64_t row;
    std::size_t stride, width, offset;
    std::uint32_t nan, infinite;
  };
  const Type types[] = {
      {0, 64, 4, 4, 0, 0x7fc00000, 0xff800000}, {1, 64, 2, 2, 0, 0x7e00, 0xfc00},
      {30, 64, 2, 2, 0, 0x7fc0, 0xff80},        {2, 36, 18, 2, 0, 0x7e00, 0xfc00},
      {3, 40, 20, 2, 2, 0xfe01, 0x7c00},        {6, 44, 22, 2, 0, 0x7e00, 0x7c00},
      {7, 48, 24, 2, 2, 0x7e00, 0x7c00},        {8, 68, 34, 2, 0, 0xffff, 0x7c00},
  };
  for (const Type& t : types) {
    // More than a piece of the scan long, so that its seams are passed.
    const Bytes good = Writer().begin().attention(0, 300, 2, t.type, t.row).bytes;
    const KvStateRules rules{ForkKind::kFull, false, 300};
    const KvStateShape shape = read_kv_state(good, rules);
    ASSERT_NO_THROW(check_kv_numbers(good, shape)) << t.type;
    for (const KvStateTensor& tensor : shape.tensors) {
      const std::size_t n = tensor.n_bytes / t.stride;
      for (const std::size_t i : {std::size_t{0}, n / 2, n - 1}) {
        for (const std::uint32_t value : {t.nan, t.infinite}) {
          Bytes bad = good;
          const std::size_t at = tensor.begin + i * t.stride + t.offset;
          std::memcpy(bad.data() + at, &value, t.width);
          try {
            check_kv_numbers(bad, shape);
            ADD_FAILURE() << "type " << t.type << " at " << at;
          } catch (const Error& e) {
            EXPECT_EQ(e.code(), ErrorCode::kCorrupt);
            EXPECT_NE(std::string(e.what()).find("byte " + std::to_string(at)), std::string::npos)
                << e.what();
          }
        }
      }
    }
  }
}

TEST(KvState, AnUnknownTypeIsNotJudged) {
  const Bytes bytes = Writer().begin().attention(0, 5, 1, 10, 84).bytes;  // Q2_K
  const KvStateShape shape = read_kv_state(bytes, {ForkKind::kFull, false, 5});
  try {
    check_kv_numbers(bytes, shape);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUnsupported);
  }
}

}  // namespace
}  // namespace swarmkv::internal
