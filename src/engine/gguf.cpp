#include "engine/gguf.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <limits>
#include <system_error>

#include "engine/gguf_cursor.h"
#include "engine/gguf_types.h"
#include "engine/gguf_walk.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

constexpr std::uint64_t kLeastMetadata = 13;           // bytes: key length, type, one of value
constexpr std::uint64_t kLeastTensor = 8 + 4 + 4 + 8;  // name length, dimensions, type, offset

std::uint64_t padded(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

// What people point a model flag at by mistake.
std::string likely_kind(std::string_view head) {
  using namespace std::string_view_literals;
  constexpr std::array<std::array<std::string_view, 2>, 10> kKinds = {{
      {"version: "sv, "a pipeline, in YAML"sv},
      {"%PDF"sv, "a PDF document"sv},
      {"PK\x03\x04"sv, "a ZIP archive (or a PyTorch file)"sv},
      {"lmgg"sv, "an old GGML file, from before GGUF"sv},
      {"tjgg"sv, "an old GGJT file, from before GGUF"sv},
      {"version https://"sv, "a Git LFS pointer: fetch the file itself"sv},
      {"<!DO"sv, "an HTML page: the download answered with a web page"sv},
      {"<htm"sv, "an HTML page: the download answered with a web page"sv},
      {"\x1f\x8b"sv, "a gzip file"sv},
      {"FUGG"sv, "a big-endian GGUF file"sv},
  }};
  for (const auto& [start, kind] : kKinds) {
    if (head.substr(0, start.size()) == start) return std::string(kind);
  }
  if (head.size() > 8 && head[8] == '{') return "a safetensors file: convert it to GGUF first";
  return {};
}

int bounded_int(std::optional<std::int64_t> value) {
  if (!value || *value < 0 || *value > std::numeric_limits<int>::max()) return 0;
  return static_cast<int>(*value);
}

void name_things(GgufInfo& info, const GgufTensorWalk& walk) {
  const auto text = [&](std::string_view key) {
    const auto found = info.strings.find(key);
    return found == info.strings.end() ? std::string() : found->second;
  };
  info.arch = text("general.architecture");
  info.name = text("general.name");
  info.n_layers = bounded_int(info.number("block_count"));
  info.n_ctx_train = bounded_int(info.number("context_length"));
  info.n_embd = bounded_int(info.number("embedding_length"));
  info.n_swa = bounded_int(info.number("attention.sliding_window"));
  if (const auto parts = info.integers.find("split.count");
      parts != info.integers.end() && !parts->second.empty() && parts->second[0] > 1) {
    info.n_parts = bounded_int(parts->second[0]);
  }
  const auto file_type = info.integers.find("general.file_type");
  if (file_type != info.integers.end() && !file_type->second.empty()) {
    info.quant = gguf_file_type_name(file_type->second[0]);
  }
  if (info.quant.empty()) {
    std::uint32_t commonest = 0;
    for (std::uint32_t i = 1; i < walk.elements_by_type.size(); ++i) {
      if (walk.elements_by_type[i] > walk.elements_by_type[commonest]) commonest = i;
    }
    if (walk.elements_by_type[commonest] > 0) info.quant = gguf_tensor_type(commonest)->name;
  }
}

void check_magic(GgufCursor& at, std::istream& in, std::uint64_t size_bytes) {
  if (size_bytes == 0) at.fail(ErrorCode::kCorrupt, "not a GGUF file: it is empty");
  std::array<char, 16> head{};
  in.read(head.data(), head.size());
  const std::string_view seen(head.data(), static_cast<std::size_t>(in.gcount()));
  in.clear();
  in.seekg(0);
  if (seen.substr(0, 4) == "GGUF") return;
  const std::string kind = likely_kind(seen);
  at.fail(ErrorCode::kCorrupt, "not a GGUF file" + (kind.empty() ? "" : ": it looks like " + kind));
}

}  // namespace

std::vector<std::int64_t> GgufInfo::numbers(std::string_view key) const {
  const auto found = integers.find(arch + "." + std::string(key));
  return found == integers.end() ? std::vector<std::int64_t>() : found->second;
}

std::optional<std::int64_t> GgufInfo::number(std::string_view key) const {
  const auto found = integers.find(arch + "." + std::string(key));
  if (found == integers.end() || found->second.empty()) return std::nullopt;
  return found->second.front();
}

GgufInfo read_gguf(std::istream& in, std::uint64_t size_bytes, const std::string& name) {
  GgufCursor at(in, size_bytes, name);
  GgufInfo info;
  info.path = name;
  info.size_bytes = size_bytes;
  check_magic(at, in, size_bytes);
  at.skip(4, "the magic");
  info.version = at.read<std::uint32_t>("the version");
  if ((info.version & 0xFFFFu) == 0 && info.version != 0) {
    at.fail(ErrorCode::kUnsupported, "a GGUF file of the other byte order (big-endian)");
  }
  if (info.version < 2 || info.version > 3) {
    at.fail(ErrorCode::kUnsupported,
            "GGUF version " + std::to_string(info.version) + ", this build reads 2 and 3");
  }
  info.n_tensors = at.read<std::uint64_t>("the number of tensors");
  info.n_metadata = at.read<std::uint64_t>("the number of metadata entries");
  if (info.n_metadata > at.remaining() / kLeastMetadata ||
      info.n_tensors > at.remaining() / kLeastTensor) {
    at.fail(ErrorCode::kCorrupt, "truncated or damaged: claims " + std::to_string(info.n_tensors) +
                                     " tensors and " + std::to_string(info.n_metadata) +
                                     " metadata entries, the file has " +
                                     std::to_string(size_bytes) + " bytes");
  }
  for (std::uint64_t i = 0; i < info.n_metadata; ++i) read_gguf_metadata(at, info);

  std::uint64_t alignment = 32;
  if (const auto found = info.integers.find("general.alignment");
      found != info.integers.end() && !found->second.empty()) {
    const std::int64_t asked = found->second[0];
    if (asked <= 0 || asked > (1 << 30) || (asked & (asked - 1)) != 0) {
      at.fail(ErrorCode::kCorrupt,
              "general.alignment is " + std::to_string(asked) + ", not a power of two");
    }
    alignment = static_cast<std::uint64_t>(asked);
  }
  GgufTensorWalk walk;
  for (std::uint64_t i = 0; i < info.n_tensors; ++i) read_gguf_tensor(at, alignment, info, walk);
  if (info.n_tensors > 0) {
    const std::uint64_t data_start = padded(at.position(), alignment);
    std::uint64_t end = 0;
    if (__builtin_add_overflow(data_start, walk.furthest_end, &end) || end > size_bytes) {
      at.fail(ErrorCode::kCorrupt, "truncated: tensor '" + walk.furthest_name + "' ends at byte " +
                                       std::to_string(data_start + walk.furthest_end) +
                                       ", the file has " + std::to_string(size_bytes));
    }
  }
  if (const auto arch = info.strings.find("general.architecture"); arch != info.strings.end()) {
    info.arch = arch->second;  // number() needs it
  }
  name_things(info, walk);
  const auto part = info.integers.find("split.no");
  if (part != info.integers.end() && !part->second.empty() && part->second[0] > 0) {
    at.fail(ErrorCode::kUnsupported, "part " + std::to_string(part->second[0] + 1) + " of " +
                                         std::to_string(info.n_parts) +
                                         " of a split model: name its first part");
  }
  if (info.arch.empty()) at.fail(ErrorCode::kCorrupt, "names no architecture: no model");
  return info;
}

GgufInfo read_gguf(const std::string& path) {
  namespace fs = std::filesystem;
  const auto unreadable = [&](const std::string& what) {
    throw Error(ErrorCode::kUnreadable, "[engine.gguf] " + what + ": '" + path + "'");
  };
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) unreadable("no such file");
  if (error) unreadable("cannot look at the model file (" + error.message() + ")");
  if (fs::is_directory(status)) unreadable("a directory, not a model file");
  if (!fs::is_regular_file(status)) unreadable("not a regular file");
  const std::uint64_t size_bytes = fs::file_size(path, error);
  if (error) unreadable("cannot ask the size (" + error.message() + ")");
  std::ifstream in(path, std::ios::binary);
  if (!in) unreadable("cannot open the model file: check permissions");
  return read_gguf(in, size_bytes, path);
}

}  // namespace swarmkv::internal
