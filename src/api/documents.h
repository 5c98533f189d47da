// Documents from disk, checked before any of their tokens is computed.
#pragma once

#include <string>
#include <vector>

#include "swarmkv/pipeline.h"

namespace swarmkv::internal {

struct LoadedDocument {
  std::string name, text, digest;
};

/// Reads and checks one document; bytes that are not UTF-8 or NUL are kept and counted in one
/// warning. errors  kUnreadable   no such file, a directory, empty, cannot be read, larger than 1
/// GiB; strict: odd bytes
///         kUnsupported  a binary format (PDF, ZIP, ...): the message says how to get text
LoadedDocument load_document(const DocumentSpec& spec, const std::string& folder, bool strict,
                             std::vector<Diagnostic>& warnings);

}  // namespace swarmkv::internal
