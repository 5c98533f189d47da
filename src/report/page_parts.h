// The report page around its data, put together by cmake/EmbedPage.cmake from report/page.
#pragma once

#include <string_view>

namespace swarmkv::internal {

struct PageParts {
  std::string_view before, after;
};
[[nodiscard]] PageParts page_parts();

}  // namespace swarmkv::internal
