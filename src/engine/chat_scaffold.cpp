#include "engine/chat_scaffold.h"

#include <fmt/format.h>

#include <vector>

namespace swarmkv::internal {
namespace {

// Plain letters, so that no trimming, escaping or quoting of a template changes them.
constexpr std::string_view kSystemSentinel = "swarmkvSystemTextQ7f3xW";
constexpr std::string_view kUserSentinel = "swarmkvUserTextK9d2pZ";
constexpr std::string_view kAnswerSentinel = "swarmkvAnswerTextV4h8sL";
constexpr std::string_view kNextSentinel = "swarmkvNextTextB6n1yC";

[[noreturn]] void refuse(const std::string& what) {
  throw Error(
      ErrorCode::kUnsupported,
      fmt::format("[prompt.template] {}; --no-chat-template sends the plain text instead", what));
}

std::size_t find_once(const std::string& text, std::string_view sentinel, std::string_view name) {
  const std::size_t at = text.find(sentinel);
  if (at == std::string::npos) {
    refuse(fmt::format("the model's chat template drops or changes the {} text", name));
  }
  if (text.find(sentinel, at + sentinel.size()) != std::string::npos) {
    refuse(fmt::format("the model's chat template writes the {} text more than once", name));
  }
  return at;
}

std::string render(const Model& model, std::span<const ChatMessage> messages,
                   const std::string& date) {
  if (!model.info().has_chat_template) {
    refuse(fmt::format("model '{}' has no chat template", model.info().name));
  }
  try {
    return model.render_chat(messages, date);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUnsupported) throw;
    refuse(error.what());
  }
}

}  // namespace

ChatScaffold cut_chat_template(const Model& model, bool has_system, const std::string& date) {
  std::vector<ChatMessage> messages;
  if (has_system) messages.push_back({"system", std::string(kSystemSentinel)});
  messages.push_back({"user", std::string(kUserSentinel)});
  const std::string text = render(model, messages, date);

  const std::size_t user = find_once(text, kUserSentinel, "user");
  ChatScaffold scaffold;
  scaffold.after = text.substr(user + kUserSentinel.size());
  if (!has_system) {
    scaffold.before = text.substr(0, user);
    return scaffold;
  }
  const std::size_t system = find_once(text, kSystemSentinel, "system");
  if (system > user)
    refuse("the model's chat template writes the user text before the system text");
  const std::size_t system_end = system + kSystemSentinel.size();
  scaffold.before = text.substr(0, system);
  scaffold.between = text.substr(system_end, user - system_end);
  return scaffold;
}

TurnScaffold cut_next_turn(const Model& model, bool has_system, const std::string& date) {
  std::vector<ChatMessage> messages;
  if (has_system) messages.push_back({"system", std::string(kSystemSentinel)});
  messages.push_back({"user", std::string(kUserSentinel)});
  messages.push_back({"assistant", std::string(kAnswerSentinel)});
  messages.push_back({"user", std::string(kNextSentinel)});
  const std::string text = render(model, messages, date);

  const std::size_t user = find_once(text, kUserSentinel, "user");
  if (has_system && find_once(text, kSystemSentinel, "system") > user) {
    refuse("the model's chat template moves the system text into a later turn");
  }
  const std::size_t answer = find_once(text, kAnswerSentinel, "answer");
  if (answer < user) refuse("the model's chat template writes the answer before the question");
  const std::size_t next = find_once(text, kNextSentinel, "next turn's");
  if (next < answer) refuse("the model's chat template writes the next turn before the answer");
  const std::size_t answer_end = answer + kAnswerSentinel.size();
  return {text.substr(answer_end, next - answer_end), text.substr(next + kNextSentinel.size())};
}

}  // namespace swarmkv::internal
