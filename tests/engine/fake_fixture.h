// Short words for driving a fake context by hand.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/fake/fake_engine.h"

namespace swarmkv::internal {

/// `text` as the next tokens of `seq`; the last one asks for logits.
inline Batch next_tokens(const FakeContext& context, SeqId seq, std::string_view text) {
  Batch batch;
  Pos pos = context.length(seq);
  for (const Token token : fake_tokenize(text, SpecialTokens::kParse)) {
    batch.push_back({token, pos++, seq, false});
  }
  if (!batch.empty()) batch.back().logits = true;
  return batch;
}

/// Forwards `text` on `seq` and samples its last row.
inline Token feed(FakeContext& context, SeqId seq, std::string_view text, Sampler& sampler) {
  const Batch batch = next_tokens(context, seq, text);
  if (context.forward(batch) != ForwardStatus::kOk) return -1;
  SampleRow row{static_cast<int>(batch.size()) - 1, &sampler};
  context.sample({&row, 1});
  return row.token;
}

inline Token feed(FakeContext& context, SeqId seq, std::string_view text) {
  FakeSampler greedy{Sampling{}};
  return feed(context, seq, text, greedy);
}

/// Feeds `prompt`, then up to n tokens one by one; end of generation is written as its marker and
/// ends it.
inline std::string generate(FakeContext& context, SeqId seq, std::string_view prompt, int n,
                            Sampling sampling = {}) {
  FakeSampler sampler(sampling);
  Tokens out;
  Token token = feed(context, seq, prompt, sampler);
  for (int i = 0; i < n; ++i) {
    out.push_back(token);
    if (token == kFakeEndTurn || token < 0 || i + 1 == n) break;
    if (context.forward({{token, context.length(seq), seq, true}}) != ForwardStatus::kOk) break;
    SampleRow row{0, &sampler};
    context.sample({&row, 1});
    token = row.token;
  }
  return fake_text(out);
}

/// The name of the code that `action` throws.
template <typename Action>
std::string thrown(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return std::string(to_string(error.code()));
  }
  return "nothing thrown";
}

}  // namespace swarmkv::internal
