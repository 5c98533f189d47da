// What agents and documents may be called.
#pragma once

#include <string>
#include <string_view>

namespace swarmkv::internal {

inline constexpr std::string_view kNameRule =
    "a name starts with a lower-case letter, goes on with lower-case letters, digits and '_', "
    "and has at most 64 characters";

/// [a-z][a-z0-9_]{0,63}
bool has_name_form(std::string_view name);

/// kNameRule, with a name like `name` that keeps to it in front, where there is one.
std::string name_form_hint(std::string_view name);

/// Words a template needs for itself: vars, documents, agents.
bool is_reserved_name(std::string_view name);

}  // namespace swarmkv::internal
