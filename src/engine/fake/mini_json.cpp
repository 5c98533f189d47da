#include "engine/fake/mini_json.h"

#include <charconv>
#include <cmath>
#include <utility>

namespace swarmkv::internal {
namespace {

constexpr int kMaxDepth = 64;

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::optional<MiniJson> document() {
    auto value = read(0);
    space();
    return value && at_ == text_.size() ? std::move(value) : std::nullopt;
  }

 private:
  void space() {
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) {
      ++at_;
    }
  }
  bool eat(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  bool eat_after_space(std::string_view word) {
    space();
    return eat(word);
  }

  std::optional<MiniJson> read(int depth) {
    space();
    if (depth > kMaxDepth || at_ >= text_.size()) return std::nullopt;
    MiniJson value;
    const std::size_t begin = at_;
    if (!read_into(value, depth)) return std::nullopt;
    value.source = text_.substr(begin, at_ - begin);
    return value;
  }

  bool read_into(MiniJson& value, int depth) {
    switch (text_[at_]) {
      case '{':
        return read_object(value, depth);
      case '[':
        return read_array(value, depth);
      case '"':
        value.kind = MiniJson::Kind::kString;
        return read_mini_json_string(text_, at_, value.string);
      case 'n':
        return eat("null");
      case 't':
        value.kind = MiniJson::Kind::kBool;
        value.number = 1;
        return eat("true");
      case 'f':
        value.kind = MiniJson::Kind::kBool;
        return eat("false");
      default:
        value.kind = MiniJson::Kind::kNumber;
        return read_number(value.number);
    }
  }

  bool read_object(MiniJson& value, int depth) {
    value.kind = MiniJson::Kind::kObject;
    ++at_;
    if (eat_after_space("}")) return true;
    do {
      space();
      std::string key;
      if (!read_mini_json_string(text_, at_, key) || !eat_after_space(":")) return false;
      auto member = read(depth + 1);
      if (!member) return false;
      value.keys.push_back(std::move(key));
      value.items.push_back(std::move(*member));
    } while (eat_after_space(","));
    return eat_after_space("}");
  }

  bool read_array(MiniJson& value, int depth) {
    value.kind = MiniJson::Kind::kArray;
    ++at_;
    if (eat_after_space("]")) return true;
    do {
      auto item = read(depth + 1);
      if (!item) return false;
      value.items.push_back(std::move(*item));
    } while (eat_after_space(","));
    return eat_after_space("]");
  }

  bool read_number(double& number) {
    const char c = text_[at_];
    if (c != '-' && (c < '0' || c > '9')) return false;
    const std::size_t digits = at_ + (c == '-' ? 1 : 0);
    const std::string_view rest = text_.substr(digits, 2);
    if (rest.size() == 2 && rest[0] == '0' && rest[1] >= '0' && rest[1] <= '9') return false;
    const char* end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(text_.data() + at_, end, number);
    at_ = static_cast<std::size_t>(stop - text_.data());
    if (stop[-1] == '.') return false;
    return error == std::errc() && std::isfinite(number);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

const MiniJson* MiniJson::find(std::string_view key) const {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == key) return &items[i];
  }
  return nullptr;
}

std::optional<MiniJson> parse_mini_json(std::string_view text) { return Reader(text).document(); }

}  // namespace swarmkv::internal
