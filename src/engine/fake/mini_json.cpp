#include "engine/fake/mini_json.h"

#include <fmt/format.h>

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
        return read_string(value.string);
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
      if (!read_string(key) || !eat_after_space(":")) return false;
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

  bool read_string(std::string& out) {
    if (!eat("\"")) return false;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return true;
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c != '\\') {
        out.push_back(c);
      } else if (!read_escape(out)) {
        return false;
      }
    }
    return false;
  }

  bool read_escape(std::string& out) {
    if (at_ >= text_.size()) return false;
    constexpr std::string_view kNames = "\"\\/bfnrt", kValues = "\"\\/\b\f\n\r\t";
    const char c = text_[at_++];
    if (const auto i = kNames.find(c); i != std::string_view::npos) {
      out.push_back(kValues[i]);
      return true;
    }
    unsigned code = 0;
    if (c != 'u' || !read_hex(code)) return false;
    if (code >= 0xdc00 && code <= 0xdfff) return false;
    if (code >= 0xd800 && code <= 0xdbff) {
      unsigned low = 0;
      if (!eat("\\u") || !read_hex(low) || low < 0xdc00 || low > 0xdfff) return false;
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    append_utf8(out, code);
    return true;
  }

  bool read_hex(unsigned& code) {
    if (text_.size() - at_ < 4) return false;
    const char* begin = text_.data() + at_;
    const auto [stop, error] = std::from_chars(begin, begin + 4, code, 16);
    at_ += 4;
    return error == std::errc() && stop == begin + 4;
  }

  static void append_utf8(std::string& out, unsigned code) {
    const auto put = [&out](unsigned byte) { out.push_back(static_cast<char>(byte)); };
    if (code < 0x80) return put(code);
    if (code < 0x800) {
      put(0xc0 | (code >> 6));
    } else {
      if (code < 0x10000) {
        put(0xe0 | (code >> 12));
      } else {
        put(0xf0 | (code >> 18));
        put(0x80 | ((code >> 12) & 0x3f));
      }
      put(0x80 | ((code >> 6) & 0x3f));
    }
    put(0x80 | (code & 0x3f));
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

std::string mini_json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      out.push_back(c);
    }
  }
  return out + "\"";
}

}  // namespace swarmkv::internal
