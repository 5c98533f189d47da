// The seam to a model runtime, first half: what never changes after loading. A Model is immutable
// and may be used from any thread; it makes Contexts and Samplers.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/state.h"
#include "engine/types.h"

namespace swarmkv::internal {

class Context;

/// A request's own chooser of tokens. Owned by the request, used on the engine thread only. Its
/// concrete type belongs to the engine that made it; Context::sample knows it.
class Sampler {
 public:
  virtual ~Sampler() = default;
};

struct ChatMessage {
  std::string role, content;
};

enum class SpecialTokens { kPlainText, kParse };

class Model {
 public:
  virtual ~Model() = default;

  [[nodiscard]] virtual const ModelInfo& info() const = 0;

  /// Text to ids. Never adds a start token. kPlainText: marker text such as "<|im_end|>" stays
  /// ordinary text.
  [[nodiscard]] virtual Tokens tokenize(std::string_view text, SpecialTokens special) const = 0;

  /// The id that has to stand at position 0, if this model wants one.
  [[nodiscard]] virtual std::optional<Token> start_token() const = 0;

  /// The raw bytes of one token (may be part of a character); control tokens give "".
  [[nodiscard]] virtual std::string piece(Token token) const = 0;

  [[nodiscard]] virtual bool is_end_of_generation(Token token) const = 0;
  [[nodiscard]] virtual bool is_control(Token token) const = 0;

  /// Renders the model's chat template, generation prompt appended. The template's clock is `date`
  /// ("YYYY-MM-DD"). errors  kUnsupported  no template, or it refuses these messages
  [[nodiscard]] virtual std::string render_chat(std::span<const ChatMessage> messages,
                                                std::string_view date) const = 0;

  /// errors  kInvalidArgument  a value out of range, or a JSON schema that cannot become a grammar
  [[nodiscard]] virtual std::unique_ptr<Sampler> make_sampler(const Sampling& sampling) const = 0;

  /// errors  kInvalidArgument, kUnsupported (KV type without flash attention ...), kDoesNotFit
  /// (memory)
  [[nodiscard]] virtual std::unique_ptr<Context> make_context(
      const ContextOptions& options) const = 0;

  /// Empty if a context made with these options is expected to be batch_invariant(), else why not.
  /// Known without the weights.
  [[nodiscard]] virtual std::string why_not_batch_invariant(
      const ContextOptions& /*options*/) const {
    return "this engine does not promise it";
  }

  /// Bytes of KV cache one cell takes with these types (0 where it cannot be known, such as
  /// recurrent models).
  [[nodiscard]] virtual std::uint64_t kv_bytes_per_cell(KvType type_k, KvType type_v) const = 0;

  /// Identifies weights and metadata: equal for equal files, whatever they are called. The first
  /// call reads the whole model (98 MB: 65 ms from the page cache), later ones in this process do
  /// not.
  /// errors  kUnreadable  the file is gone, or is not the one that was loaded
  [[nodiscard]] virtual std::string fingerprint() const = 0;

  /// Whether these bytes, from wherever they come, are a state of `length` positions that a context
  /// of this model could have saved: every count against the bytes that are there, every position
  /// once, every number finite. What it says nothing about is whether they belong together with
  /// some tokens: that is what checksums are for.  cost: reads all of it, 10 GB/s and less
  /// errors  kCorrupt      place, what is wrong, both values
  ///         kUnsupported  states of this kind of model cannot be checked
  virtual void check_state(StateBytes bytes, Pos length) const = 0;
};

}  // namespace swarmkv::internal
