// Reads and checks a GGUF model file without the runtime: the loader asserts, or maps what is not
// there, on files that are damaged, so whatever can be known beforehand is found here and said
// clearly. Nothing is allocated by a length that the file merely claims.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace swarmkv::internal {

struct GgufInfo {
  std::string path;
  std::uint64_t size_bytes = 0;
  std::uint32_t version = 0;
  std::uint64_t n_tensors = 0, n_metadata = 0;

  std::string arch, name;
  std::string quant;           ///< of most tensors by the file's own word, else the commonest type
  std::uint64_t n_params = 0;  ///< elements of all tensors in this file
  int n_layers = 0, n_ctx_train = 0, n_embd = 0, n_vocab = 0, n_swa = 0;
  int n_parts = 1;  ///< > 1: this is one file of a split model
  bool has_chat_template = false;
  bool has_long_rope = false;            ///< a second set of RoPE factors, for large contexts
  std::set<std::uint32_t> matrix_types;  ///< type numbers of tensors with two sizes or more

  /// Whole numbers by full key; short arrays entire, longer ones left out.
  std::map<std::string, std::vector<std::int64_t>, std::less<>> integers;
  /// Short strings by full key.
  std::map<std::string, std::string, std::less<>> strings;

  /// The number under "<arch>.<key>", or its first element; nothing if there is none.
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view key) const;
  /// The numbers under "<arch>.<key>"; empty if there are none.
  [[nodiscard]] std::vector<std::int64_t> numbers(std::string_view key) const;
};

/// errors  kUnreadable  no such file, a directory, no regular file, no permission
///         kCorrupt     not a GGUF file (says what it looks like), truncated (both sizes), damaged
///         kUnsupported version or byte order that nobody reads any more or yet
[[nodiscard]] GgufInfo read_gguf(const std::string& path);

/// The same for bytes from anywhere; `name` stands in messages. `in` stands at its first byte.
[[nodiscard]] GgufInfo read_gguf(std::istream& in, std::uint64_t size_bytes,
                                 const std::string& name);

}  // namespace swarmkv::internal
