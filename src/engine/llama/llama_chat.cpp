#include "engine/llama/llama_chat.h"

#include <chrono>
#include <ctime>
#include <exception>

#include "chat.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

// Noon of the day in local time, which is what templates format.
std::chrono::system_clock::time_point noon(std::string_view date) {
  const auto digits = [&](std::size_t from, std::size_t n) {
    int value = 0;
    for (std::size_t i = from; i < from + n; ++i) {
      if (date[i] < '0' || date[i] > '9') return -1;
      value = value * 10 + (date[i] - '0');
    }
    return value;
  };
  if (date.size() == 10 && date[4] == '-' && date[7] == '-') {
    const int year = digits(0, 4), month = digits(5, 2), day = digits(8, 2);
    std::tm when{};
    when.tm_year = year - 1900;
    when.tm_mon = month - 1;
    when.tm_mday = day;
    when.tm_hour = 12;
    when.tm_isdst = -1;
    const std::time_t seconds = std::mktime(&when);  // normalises: 31 February becomes March
    if (year >= 1970 && seconds != -1 && when.tm_mon == month - 1 && when.tm_mday == day) {
      return std::chrono::system_clock::from_time_t(seconds);
    }
  }
  throw Error(ErrorCode::kInvalidArgument,
              "[engine.render_chat] the template's date must be YYYY-MM-DD, got '" +
                  std::string(date) + "'");
}

}  // namespace

struct LlamaChat::Templates {
  common_chat_templates_ptr all;
};

LlamaChat::LlamaChat(const llama_model* model)
    : model_(model), has_template_(llama_model_chat_template(model, nullptr) != nullptr) {}

LlamaChat::~LlamaChat() = default;

std::string LlamaChat::render(std::span<const ChatMessage> messages, std::string_view date) const {
  // Asked first: without a template llama-common would quietly use another model's.
  if (!has_template_) {
    throw Error(ErrorCode::kUnsupported, "[engine.render_chat] the model has no chat template");
  }
  common_chat_templates_inputs inputs;
  inputs.now = noon(date);
  inputs.use_jinja = true;
  inputs.add_generation_prompt = true;
  // The template's text and nothing else: no analysis of its tool-call syntax.
  inputs.force_pure_content = true;
  for (const ChatMessage& message : messages) {
    common_chat_msg copy;
    copy.role = message.role;
    copy.content = message.content;
    inputs.messages.push_back(std::move(copy));
  }
  const std::lock_guard lock(mutex_);
  try {
    if (!templates_) {
      auto parsed = std::make_unique<Templates>();
      parsed->all = common_chat_templates_init(model_, "");
      templates_ = std::move(parsed);
    }
    return common_chat_templates_apply(templates_->all.get(), inputs).prompt;
  } catch (const std::exception& error) {
    throw Error(
        ErrorCode::kUnsupported,
        std::string("[engine.render_chat] the model's chat template refuses: ") + error.what());
  }
}

}  // namespace swarmkv::internal
