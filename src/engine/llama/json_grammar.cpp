#include "engine/llama/json_grammar.h"

#include <cmath>
#include <exception>
#include <limits>

#include "engine/llama/json_schema_problem.h"
#include "engine/llama/llama_log.h"
#include "json-schema-to-grammar.h"
#include "json.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, "[engine.json_schema] " + what);
}

// The converter recurses with the schema's nesting.
void check_nesting(const std::string& schema) {
  constexpr std::size_t kMostBytes = 1 << 20;
  constexpr int kMostDepth = 64;
  if (schema.size() > kMostBytes) {
    refuse("the schema has " + std::to_string(schema.size()) + " bytes, at most " +
           std::to_string(kMostBytes) + " are taken");
  }
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < schema.size(); ++i) {
    const char c = schema[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMostDepth)
        refuse("the schema nests deeper than " + std::to_string(kMostDepth));
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
}

// The runtime refuses longer repetitions, but prints the grammar to stderr while doing so.
void check_repetitions(const std::string& grammar) {
  constexpr std::uint64_t kMost = 2000;
  bool in_literal = false, in_class = false;
  for (std::size_t i = 0; i < grammar.size(); ++i) {
    const char c = grammar[i];
    if (c == '\\' && (in_literal || in_class)) {
      ++i;
    } else if (in_literal) {
      in_literal = c != '"';
    } else if (in_class) {
      in_class = c != ']';
    } else if (c == '"') {
      in_literal = true;
    } else if (c == '[') {
      in_class = true;
    } else if (c == '{') {
      std::uint64_t number = 0;
      for (++i; i < grammar.size() && grammar[i] != '}'; ++i) {
        const char digit = grammar[i];
        number = digit >= '0' && digit <= '9'
                     ? number * 10 + static_cast<std::uint64_t>(digit - '0')
                     : 0;
        if (number > kMost) {
          refuse("the schema asks for more than " + std::to_string(kMost) +
                 " repetitions (minLength, maxLength, minItems or maxItems)");
        }
      }
    }
  }
}

std::string grammar_of(const std::string& schema) {
  check_nesting(schema);
  std::string problem;
  try {
    const common_json parsed = common_json::parse(schema);
    problem = schema_problem(parsed);
    if (problem.empty()) return json_schema_to_grammar(parsed);
  } catch (const std::exception& error) {
    problem = std::string("the schema cannot become a grammar: ") + error.what();
  }
  refuse(problem);
}

}  // namespace

JsonGrammar::JsonGrammar(const llama_vocab* vocab, const std::string& schema) : vocab_(vocab) {
  const std::string grammar = grammar_of(schema);
  check_repetitions(grammar);
  (void)take_first_complaint();
  std::string reason;
  try {
    grammar_.reset(llama_sampler_init_grammar(vocab, grammar.c_str(), "root"));
    if (!grammar_) reason = take_first_complaint();
  } catch (const std::exception& error) {
    reason = error.what();
  }
  if (!grammar_) refuse("the schema's grammar is refused by the runtime: " + reason);
}

bool JsonGrammar::allows(Token token) const {
  llama_token_data one{token, 1.0f, 0.0f};
  reject({&one, 1});
  return !std::isinf(one.logit);
}

void JsonGrammar::reject(std::span<llama_token_data> candidates) const {
  llama_token_data_array array{candidates.data(), candidates.size(), -1, false};
  llama_sampler_apply(grammar_.get(), &array);
  for (llama_token_data& candidate : candidates) {
    if (writes_nothing(candidate.id)) candidate.logit = -std::numeric_limits<float>::infinity();
  }
}

bool JsonGrammar::writes_nothing(Token token) const {
  constexpr auto kNoText = LLAMA_TOKEN_ATTR_CONTROL | LLAMA_TOKEN_ATTR_UNKNOWN;
  return (llama_vocab_get_attr(vocab_, token) & kNoText) != 0 && !llama_vocab_is_eog(vocab_, token);
}

void JsonGrammar::accept(Token token) { llama_sampler_accept(grammar_.get(), token); }

}  // namespace swarmkv::internal
