#include "engine/kv_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "engine/gguf_types.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

constexpr std::uint32_t kMagic = 0xaf143cd8;
constexpr std::size_t kCellExtBytes = 12;

/// One reading of the bytes: the state format does not say which parts it has, so several are
/// tried.
struct Reading {
  StateBytes state;
  const KvStateRules& rules;
  std::size_t at = 0;
  KvStateShape shape;
  std::string wrong;  ///< why it ended; empty = it has not

  bool fail(std::string what) {
    if (wrong.empty()) wrong = std::move(what);
    return false;
  }
  [[nodiscard]] std::size_t remaining() const { return state.size() - at; }

  template <typename T>
  bool read(T& value, const char* what) {
    if (remaining() < sizeof value) {
      return fail(fmt::format("{} needs {} bytes, {} are left", what, sizeof value, remaining()));
    }
    std::memcpy(&value, state.data() + at, sizeof value);
    at += sizeof value;
    return true;
  }
  template <typename T>
  bool expect(T expected, const char* what) {
    T value{};
    if (!read(value, what)) return false;
    return value == expected || fail(fmt::format("{} is {}, must be {}", what, value, expected));
  }

  // `n` rows of `row_bytes` each, of a known type.
  bool tensor(std::int32_t type, std::uint64_t row_bytes, std::uint64_t n, const char* what) {
    const auto known = type < 0 ? std::nullopt : gguf_tensor_type(static_cast<std::uint32_t>(type));
    if (!known) return fail(fmt::format("{} type {} is unknown", what, type));
    if (row_bytes % known->block_bytes != 0) {
      return fail(fmt::format("{} row of {} bytes is not of whole {} blocks of {}", what, row_bytes,
                              known->name, known->block_bytes));
    }
    if (n > 0 && row_bytes > remaining() / n) {
      return fail(
          fmt::format("{} rows of {} x {} bytes, {} are left", what, n, row_bytes, remaining()));
    }
    const auto n_bytes = static_cast<std::size_t>(row_bytes * n);
    shape.tensors.push_back({static_cast<std::uint32_t>(type), at, n_bytes});
    at += n_bytes;
    return true;
  }

  bool rows(std::uint64_t n_rows, const char* what) {
    std::int32_t type = 0;
    std::uint64_t row_bytes = 0;
    return read(type, what) && read(row_bytes, what) && tensor(type, row_bytes, n_rows, what);
  }

  // All positions, or on the window's part the last ones, each of them once.
  bool cells(std::uint32_t n_cells, bool is_window) {
    const auto n = static_cast<std::uint32_t>(rules.n_tokens);
    if (is_window ? n_cells == 0 || n_cells > n : n_cells != n) {
      return fail(fmt::format("{} cells for {} positions", n_cells, n));
    }
    const std::size_t each = 12 + (rules.has_cell_ext ? kCellExtBytes : 0);
    if (n_cells > remaining() / each) {
      return fail(fmt::format("{} cells of {} bytes, {} are left", n_cells, each, remaining()));
    }
    std::vector<bool> seen(n_cells, false);
    const auto first = static_cast<std::int64_t>(n - n_cells);
    for (std::uint32_t i = 0; i < n_cells; ++i) {
      std::int32_t position = 0;
      if (!read(position, "position") || !expect(std::uint32_t{1}, "sequences of a cell")) {
        return false;
      }
      if (rules.has_cell_ext) at += kCellExtBytes;
      at += sizeof(std::int32_t);  // the sequence's id where it was saved: of no meaning here
      if (position < first || position >= rules.n_tokens) {
        return fail(fmt::format("position {} is not in [{}, {})", position, first, rules.n_tokens));
      }
      const auto index = static_cast<std::size_t>(position - first);
      if (seen[index]) return fail(fmt::format("position {} stands there twice", position));
      seen[index] = true;
    }
    return true;
  }

  bool attention(bool is_window, bool has_values) {
    std::uint32_t n_cells = 0, transposed = 0, n_layers = 0;
    if (!expect(std::uint32_t{1}, "streams") || !read(n_cells, "cell count") ||
        !cells(n_cells, is_window) || !read(transposed, "V layout") ||
        !read(n_layers, "layer count")) {
      return false;
    }
    if (transposed > 1) return fail(fmt::format("V layout is {}, must be 0 or 1", transposed));
    shape.transposed_values = transposed == 1;
    for (std::uint32_t i = 0; i < n_layers; ++i) {
      if (!rows(n_cells, "K")) return false;
    }
    for (std::uint32_t i = 0; has_values && i < n_layers; ++i) {
      if (transposed == 1 ? !columns(n_cells) : !rows(n_cells, "V")) return false;
    }
    return true;
  }

  bool columns(std::uint64_t n_cells) {
    std::int32_t type = 0;
    std::uint32_t element_bytes = 0, width = 0;
    if (!read(type, "V") || !read(element_bytes, "V element") || !read(width, "V width")) {
      return false;
    }
    return tensor(type, element_bytes, n_cells * width, "V");
  }

  bool recurrent() {
    std::uint32_t n_layers = 0;
    if (!expect(std::uint32_t{1}, "recurrent cells") ||
        !expect(static_cast<std::int32_t>(rules.n_tokens - 1), "recurrent position") ||
        !expect(std::uint32_t{0}, "sequences of a recurrent cell") ||
        !expect(std::uint32_t{0}, "recurrent layout") || !read(n_layers, "recurrent layers")) {
      return false;
    }
    const std::size_t n_before = shape.tensors.size();
    while (remaining() > 0) {
      if (!rows(1, "recurrent")) return false;
    }
    const std::size_t n = shape.tensors.size() - n_before;
    return (n > 0 && n <= 2 * static_cast<std::size_t>(n_layers)) ||
           fail(fmt::format("{} recurrent tensors for {} layers", n, n_layers));
  }

  bool all(int n_attention, bool has_values, bool is_recurrent) {
    if (!expect(kMagic, "magic")) return false;
    at += std::min(remaining(), sizeof(std::int32_t));  // the sequence's id where it was saved
    for (int i = 0; i < n_attention; ++i) {
      if (!attention(i == 1, has_values)) return false;
    }
    if (is_recurrent && !recurrent()) return false;
    return remaining() == 0 || fail(fmt::format("{} bytes are left over", remaining()));
  }
};

struct Parts {
  int n_attention;
  bool has_values, is_recurrent;
};

std::vector<Parts> parts_of(ForkKind kind) {
  switch (kind) {
    case ForkKind::kFull:
      return {{1, true, false}, {1, false, false}};
    case ForkKind::kWindow:
      return {{2, true, false}, {2, false, false}};
    case ForkKind::kRecurrent:
      return {{0, false, true}, {1, true, true}, {1, false, true}, {2, true, true}};
  }
  return {};
}

}  // namespace

KvStateShape read_kv_state(StateBytes state, const KvStateRules& rules) {
  std::size_t furthest = 0;
  std::string wrong = "it is empty";
  for (const Parts& parts : parts_of(rules.kind)) {
    Reading reading{state, rules, 0, {}, {}};
    if (rules.n_tokens > 0 &&
        reading.all(parts.n_attention, parts.has_values, parts.is_recurrent)) {
      return std::move(reading.shape);
    }
    if (reading.at < furthest || reading.wrong.empty()) continue;
    furthest = reading.at;
    wrong = reading.wrong;
  }
  throw Error(ErrorCode::kCorrupt,
              fmt::format("[engine.state] the state of {} bytes and {} positions is damaged before "
                          "byte {}: {}",
                          state.size(), rules.n_tokens, furthest, wrong));
}

}  // namespace swarmkv::internal
