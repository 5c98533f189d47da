#pragma once

#include <string>

#include "pipeline/read_context.h"

namespace swarmkv::internal {

/// A YAML value as JSON text: null, booleans and numbers as YAML 1.2 reads them, everything else as
/// text. What JSON has no word for (.inf, a key that is a list) is reported and becomes null.
std::string yaml_to_json(const ReadContext& context, const YamlNode& value);

}  // namespace swarmkv::internal
