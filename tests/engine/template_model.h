// A model whose chat template is written by the test.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/fake/fake_engine.h"
#include "support/forwarding_model.h"

namespace swarmkv::internal {

/// The fake vocabulary with a template of the test's own.
class TemplateModel final : public ForwardingModel {
 public:
  using Render = std::function<std::string(std::span<const ChatMessage>, std::string_view date)>;
  explicit TemplateModel(Render render, FakeOptions options = {})
      : ForwardingModel(std::make_shared<FakeModel>(std::move(options))),
        render_(std::move(render)) {}

  Tokens tokenize(std::string_view text, SpecialTokens special) const override {
    // Pairs of letters merge, as in real vocabularies, so that a seam that merges shows.
    Tokens tokens;
    for (const Token token : ForwardingModel::tokenize(text, special)) {
      if (!tokens.empty() && tokens.back() == 'H' && token == 'a') {
        tokens.back() = 1000;
      } else {
        tokens.push_back(token);
      }
    }
    return tokens;
  }
  std::string piece(Token token) const override {
    return token == 1000 ? "Ha" : ForwardingModel::piece(token);
  }
  std::string render_chat(std::span<const ChatMessage> messages,
                          std::string_view date) const override {
    return render_(messages, date);
  }

 private:
  Render render_;
};

/// What the messages say, one behind the other.
inline std::string contents(std::span<const ChatMessage> messages,
                            const std::string& between = "|") {
  std::string text;
  for (const ChatMessage& message : messages) text += message.content + between;
  return text;
}

}  // namespace swarmkv::internal
