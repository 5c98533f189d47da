// Moving through a text that is known to be JSON, so that nothing has to be checked on the way. A
// tree of values would be destroyed and written recursively, and would not keep numbers as they
// are.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace swarmkv::internal {

/// Views into `text`, which must be JSON without a byte order mark and outlive it.
class JsonWalk {
 public:
  explicit JsonWalk(std::string_view text) : text_(text) { skip_blank(); }

  [[nodiscard]] char next() const { return text_[at_]; }

  std::string_view take_value();
  /// In quotes; goes past the colon.
  std::string_view take_key();

  /// Into a list or an object; false if it is empty.
  bool enter();
  /// Past a value to the next one; false at the end.
  bool next_item();

 private:
  void step() {
    ++at_;
    skip_blank();
  }
  void skip_blank();
  void skip_string();

  std::string_view text_;
  std::size_t at_ = 0;
};

/// `json` without the spaces between its parts.
std::string without_json_blanks(std::string_view json);

/// How deep lists and objects are nested; 0 = neither.
int json_depth(std::string_view json);

}  // namespace swarmkv::internal
