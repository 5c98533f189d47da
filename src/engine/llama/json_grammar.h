// Output constrained to a JSON Schema: llama-common makes a grammar of the schema, the runtime
// follows it token by token.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "engine/llama/llama_handle.h"
#include "swarmkv/request.h"

namespace swarmkv::internal {

class JsonGrammar {
 public:
  /// Without a vocabulary it is checked, and good for nothing else.
  /// errors  kInvalidArgument  no JSON, or a schema that cannot become a grammar
  JsonGrammar(const llama_vocab* vocab, const std::string& schema);

  /// Whether the token may come next. Control tokens may not, save the end: to the runtime their
  /// markers are letters that a string may hold, but in the answer they would be missing.
  [[nodiscard]] bool allows(Token token) const;

  /// Sets the logits of candidates that may not come next to minus infinity. Costs a walk through
  /// the grammar for each of them.
  void reject(std::span<llama_token_data> candidates) const;

  /// The token comes next; it must be allowed.
  void accept(Token token);

 private:
  [[nodiscard]] bool writes_nothing(Token token) const;

  const llama_vocab* vocab_;
  LlamaSamplerPtr grammar_;
};

}  // namespace swarmkv::internal
