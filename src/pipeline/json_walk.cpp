#include "pipeline/json_walk.h"

#include <algorithm>

namespace swarmkv::internal {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

std::string_view JsonWalk::take_value() {
  const std::size_t begin = at_;
  std::size_t depth = 0;
  do {
    const char c = text_[at_];
    if (c == '"') {
      skip_string();
    } else if (c == '{' || c == '[') {
      ++depth;
      ++at_;
    } else if (c == '}' || c == ']') {
      --depth;
      ++at_;
    } else if (depth > 0) {
      ++at_;
    } else {
      while (at_ < text_.size() && !is_blank(text_[at_]) && text_[at_] != ',' &&
             text_[at_] != ']' && text_[at_] != '}') {
        ++at_;
      }
    }
  } while (depth > 0);
  return text_.substr(begin, at_ - begin);
}

std::string_view JsonWalk::take_key() {
  const std::size_t begin = at_;
  skip_string();
  const std::string_view key = text_.substr(begin, at_ - begin);
  skip_blank();
  step();  // the colon
  return key;
}

bool JsonWalk::enter() {
  step();
  return text_[at_] != ']' && text_[at_] != '}';
}

bool JsonWalk::next_item() {
  skip_blank();
  if (text_[at_] != ',') return false;
  step();
  return true;
}

void JsonWalk::skip_blank() {
  while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
}

void JsonWalk::skip_string() {
  for (++at_; text_[at_] != '"'; ++at_) {
    if (text_[at_] == '\\') ++at_;
  }
  ++at_;
}

std::string without_json_blanks(std::string_view json) {
  std::string result;
  bool quoted = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (!quoted && is_blank(c)) continue;
    result += c;
    if (quoted && c == '\\') {
      result += json[++i];
    } else if (c == '"') {
      quoted = !quoted;
    }
  }
  return result;
}

int json_depth(std::string_view json) {
  int depth = 0;
  int deepest = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') quoted = !quoted;
    if (quoted) {
      if (c == '\\') ++i;
    } else if (c == '{' || c == '[') {
      deepest = std::max(deepest, ++depth);
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return deepest;
}

}  // namespace swarmkv::internal
