// Renders the model's own chat template with llama-common's Jinja engine.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "engine/model.h"
#include "llama.h"

namespace swarmkv::internal {

/// Usable from any thread: rendering is serialised, because the engine asks the C library for local
/// time in a way that is not safe for threads.
class LlamaChat {
 public:
  explicit LlamaChat(const llama_model* model);
  ~LlamaChat();

  [[nodiscard]] bool has_template() const { return has_template_; }

  /// The start token's text is left out if the vocabulary wants that token anyway (start_token()).
  /// errors  kUnsupported, kInvalidArgument (date)
  [[nodiscard]] std::string render(std::span<const ChatMessage> messages,
                                   std::string_view date) const;

 private:
  struct Templates;

  const llama_model* model_;
  bool has_template_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<Templates> templates_;  // parsed by the first render
};

}  // namespace swarmkv::internal
