// A document's file, as far as can be told without reading it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "swarmkv/pipeline.h"

namespace swarmkv::internal {

inline constexpr std::uintmax_t kLargestDocument = std::uintmax_t{1} << 30;

/// Why the file cannot be opened for reading; `path` starts at `folder`.
FileProblem file_problem(const std::string& folder, const std::string& path);

/// "is a PDF, not text" and the way out, if `text` begins like a format that is no text.
FileProblem binary_format(std::string_view text);

}  // namespace swarmkv::internal
