// The smallest answer to a JSON schema, for the fake engine's constrained output.
#pragma once

#include <string>
#include <string_view>

namespace swarmkv::internal {

/// Understands type (one, or the first of several), properties + required, items + minItems,
/// minLength, minimum, maximum (and exclusive ones), enum, const, anyOf, oneOf; ignores what can
/// only describe (title, default, ...) and what the smallest instance satisfies by itself
/// (maxItems, maxLength, ...).
///
/// errors  kInvalidArgument  not JSON, no schema, or a keyword outside of this subset (pattern,
/// $ref, ...)
[[nodiscard]] std::string smallest_instance(std::string_view schema);

}  // namespace swarmkv::internal
