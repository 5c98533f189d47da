// A model whose chat template is written by the test.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/fake/fake_engine.h"

namespace swarmkv::internal {

/// The fake vocabulary with a template of the test's own.
class TemplateModel final : public Model {
 public:
  using Render = std::function<std::string(std::span<const ChatMessage>, std::string_view date)>;
  explicit TemplateModel(Render render, FakeOptions options = {})
      : fake_(options), render_(std::move(render)) {}

  const ModelInfo& info() const override { return fake_.info(); }
  Tokens tokenize(std::string_view text, SpecialTokens special) const override {
    // Pairs of letters merge, as in real vocabularies, so that a seam that merges shows.
    Tokens tokens;
    for (const Token token : fake_.tokenize(text, special)) {
      if (!tokens.empty() && tokens.back() == 'H' && token == 'a') {
        tokens.back() = 1000;
      } else {
        tokens.push_back(token);
      }
    }
    return tokens;
  }
  std::optional<Token> start_token() const override { return fake_.start_token(); }
  std::string piece(Token token) const override {
    return token == 1000 ? "Ha" : fake_.piece(token);
  }
  bool is_end_of_generation(Token token) const override {
    return fake_.is_end_of_generation(token);
  }
  bool is_control(Token token) const override { return fake_.is_control(token); }
  std::string render_chat(std::span<const ChatMessage> messages,
                          std::string_view date) const override {
    return render_(messages, date);
  }
  std::unique_ptr<Sampler> make_sampler(const Sampling& s) const override {
    return fake_.make_sampler(s);
  }
  std::unique_ptr<Context> make_context(const ContextOptions& o) const override {
    return fake_.make_context(o);
  }
  std::uint64_t kv_bytes_per_cell(KvType k, KvType v) const override {
    return fake_.kv_bytes_per_cell(k, v);
  }
  std::string fingerprint() const override { return fake_.fingerprint(); }
  void check_state(StateBytes bytes, Pos length) const override {
    fake_.check_state(bytes, length);
  }

 private:
  FakeModel fake_;
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
