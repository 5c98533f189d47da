#include "cli/argv.h"

#include <string_view>

#include "cli/flags.h"

namespace swarmkv::cli {
namespace {

// "-", "-5 degrees" and "- a list" are plain words.
bool looks_like_flag(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && word[1] != ' ' && word[1] != '\n' &&
         !(word[1] >= '0' && word[1] <= '9');
}

class Rewriter {
 public:
  RewrittenArgs rewrite(const std::vector<std::string>& args) {
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (expects_value_) {
        push(args[i]);
        expects_value_ = false;
      } else if (args[i] == "--") {
        out_.after_dashes.assign(args.begin() + static_cast<std::ptrdiff_t>(i) + 1, args.end());
        break;
      } else if (looks_like_flag(args[i])) {
        flag(args[i]);
      } else {
        push(args[i]);
      }
    }
    return std::move(out_);
  }

 private:
  void push(std::string_view word) { out_.words.emplace_back(word); }

  void flag(const std::string& word) {
    const std::size_t equals = word.find('=');
    const Flag* known = find_flag(std::string_view(word).substr(0, equals));
    if (known == nullptr) {
      if (word[1] == '-' || !letters(std::string_view(word).substr(1))) push(word);
      return;
    }
    const std::string name = "--" + std::string(known->name);
    if (!known->takes_value()) {
      push(equals == std::string::npos ? name : name + word.substr(equals));
    } else {
      push(name);
      expects_value_ = equals == std::string::npos;
      if (!expects_value_) push(word.substr(equals + 1));
    }
  }

  // Single letters in one word: switches, and at most one flag with a value, whose value follows
  // or, for a number, is the rest. Nothing is written for any other word: other programs have flags
  // of several letters (-hf, -sm), and a part of one must not pass for one of ours.
  bool letters(std::string_view word) {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < word.size(); ++i) {
      const Flag* known = find_flag(std::string("-") + word[i]);
      if (known == nullptr || (known->name == "help" && word.size() > 1)) return false;
      words.push_back("--" + std::string(known->name));
      if (!known->takes_value()) continue;
      if (i + 1 < word.size()) {
        if (word[i + 1] < '0' || word[i + 1] > '9') return false;
        words.emplace_back(word.substr(i + 1));
      } else {
        expects_value_ = true;
      }
      break;
    }
    for (const std::string& each : words) push(each);
    return true;
  }

  RewrittenArgs out_;
  bool expects_value_ = false;
};

}  // namespace

RewrittenArgs rewrite_args(const std::vector<std::string>& args) {
  return Rewriter().rewrite(args);
}

}  // namespace swarmkv::cli
