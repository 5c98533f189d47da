#include "engine/gguf_walk.h"

#include <fmt/format.h>

#include <limits>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "engine/gguf_types.h"

namespace swarmkv::internal {
namespace {

constexpr std::uint64_t kKeyLimit = 256;     // of a key or name, what is kept
constexpr std::uint64_t kTextLimit = 4096;   // of a string value, what is kept
constexpr std::uint64_t kArrayLimit = 1024;  // longer arrays are passed over
constexpr std::size_t kEntryLimit = 4096;    // values kept in all
constexpr std::uint32_t kMaxDimensions = 4;

bool is_whole_number(std::uint32_t type) {
  return type <= 5 || type == 7 || type == 10 || type == 11;
}

std::int64_t read_whole_number(GgufCursor& at, std::uint32_t type) {
  switch (type) {
    case 0:
    case 7:
      return at.read<std::uint8_t>("a value");
    case 1:
      return at.read<std::int8_t>("a value");
    case 2:
      return at.read<std::uint16_t>("a value");
    case 3:
      return at.read<std::int16_t>("a value");
    case 4:
      return at.read<std::uint32_t>("a value");
    case 5:
      return at.read<std::int32_t>("a value");
    case 10:
      return static_cast<std::int64_t>(at.read<std::uint64_t>("a value"));
    default:
      return at.read<std::int64_t>("a value");
  }
}

// The runtime ends the process over two tokens of the same text. It gives empty ones names.
void read_tokens(GgufCursor& at, std::uint64_t count) {
  constexpr std::uint64_t kMostTokens = 4'000'000, kMostBytes = 4096;
  std::unordered_set<std::string> known;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i >= kMostTokens) {
      at.skip(at.read<std::uint64_t>("a string's length"), "a token");
      continue;
    }
    std::string token = at.read_string(kMostBytes, "a token");
    if (token.empty() || token.size() == kMostBytes) continue;
    if (const auto [place, is_new] = known.insert(std::move(token)); !is_new) {
      at.fail(ErrorCode::kCorrupt,
              fmt::format("damaged: two tokens of its vocabulary are '{}'", *place));
    }
  }
}

void read_array(GgufCursor& at, const std::string& key, GgufInfo& info) {
  const auto type = at.read<std::uint32_t>("an array's type");
  const auto count = at.read<std::uint64_t>("an array's length");
  if (key == "tokenizer.ggml.tokens") {
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<int>::max());
    info.n_vocab = static_cast<int>(count < kMost ? count : kMost);
  }
  const std::uint64_t least = type == kGgufString ? 8 : gguf_value_bytes(type);
  if (least == 0) {
    at.fail(ErrorCode::kCorrupt,
            "array '" + key + "' has elements of unknown type " + std::to_string(type));
  }
  if (count > at.remaining() / least) {
    at.fail(ErrorCode::kCorrupt, "truncated or damaged: array '" + key + "' claims " +
                                     std::to_string(count) + " elements, only " +
                                     std::to_string(at.remaining()) + " bytes are left");
  }
  if (type == kGgufString && key == "tokenizer.ggml.tokens") {
    read_tokens(at, count);
  } else if (type == kGgufString) {
    for (std::uint64_t i = 0; i < count; ++i) {
      at.skip(at.read<std::uint64_t>("a string's length"), "a string");
    }
  } else if (is_whole_number(type) && count <= kArrayLimit && info.integers.size() < kEntryLimit) {
    auto& numbers = info.integers[key];
    numbers.clear();
    for (std::uint64_t i = 0; i < count; ++i) numbers.push_back(read_whole_number(at, type));
  } else {
    at.skip(count * least, "an array");
  }
}

}  // namespace

void read_gguf_metadata(GgufCursor& at, GgufInfo& info) {
  const std::string key = at.read_string(kKeyLimit, "a key");
  const auto type = at.read<std::uint32_t>("a value's type");
  if (key == "tokenizer.chat_template") info.has_chat_template = true;
  if (type == kGgufString) {
    std::string text = at.read_string(kTextLimit, "a string");
    if (info.strings.size() < kEntryLimit) info.strings[key] = std::move(text);
  } else if (type == kGgufArray) {
    read_array(at, key, info);
  } else if (is_whole_number(type)) {
    const std::int64_t value = read_whole_number(at, type);
    if (info.integers.size() < kEntryLimit) info.integers[key] = {value};
  } else if (gguf_value_bytes(type) > 0) {
    at.skip(gguf_value_bytes(type), "a value");
  } else {
    at.fail(ErrorCode::kCorrupt, "value of '" + key + "' has unknown type " + std::to_string(type));
  }
}

void read_gguf_tensor(GgufCursor& at, std::uint64_t alignment, GgufInfo& info,
                      GgufTensorWalk& walk) {
  const std::string name = at.read_string(kKeyLimit, "a tensor's name");
  const auto damaged = [&](const std::string& what) {
    at.fail(ErrorCode::kCorrupt, "tensor '" + name + "' " + what);
  };
  if (name.find("rope_factors_long") != std::string::npos) info.has_long_rope = true;
  const auto n_dimensions = at.read<std::uint32_t>("a tensor's dimensions");
  if (n_dimensions > kMaxDimensions) {
    damaged("claims " + std::to_string(n_dimensions) + " dimensions, at most 4 are possible");
  }
  std::uint64_t elements = 1, first = 1;
  for (std::uint32_t i = 0; i < n_dimensions; ++i) {
    const auto size = at.read<std::uint64_t>("a tensor's size");
    if (i == 0) first = size;
    if (__builtin_mul_overflow(elements, size, &elements) || elements > (1ULL << 62)) {
      damaged("claims an impossible size");
    }
  }
  const auto type_number = at.read<std::uint32_t>("a tensor's type");
  if (n_dimensions >= 2) info.matrix_types.insert(type_number);
  const auto offset = at.read<std::uint64_t>("a tensor's offset");
  if (offset % alignment != 0) {
    damaged("starts at " + std::to_string(offset) + ", not a multiple of " +
            std::to_string(alignment));
  }
  // A type newer than our table has a size we cannot know: then only its start is checked.
  std::uint64_t bytes = 0;
  if (const auto type = gguf_tensor_type(type_number)) {
    if (first % type->block != 0) {
      damaged("has rows of " + std::to_string(first) + " elements, " + type->name +
              " needs multiples of " + std::to_string(type->block));
    }
    if (__builtin_mul_overflow(elements / type->block, std::uint64_t{type->block_bytes}, &bytes)) {
      damaged("claims an impossible size");
    }
    walk.elements_by_type[type_number] += elements;
  }
  std::uint64_t end = 0;
  if (__builtin_add_overflow(offset, bytes, &end)) damaged("claims an impossible place");
  if (end > walk.furthest_end) {
    walk.furthest_end = end;
    walk.furthest_name = name;
  }
  info.n_params += elements;
}

}  // namespace swarmkv::internal
