// What a fake model is like.
#pragma once

#include <string>
#include <vector>

#include "engine/types.h"

namespace swarmkv::internal {

struct FakeOptions {
  int n_ctx_train = 131072;
  int n_swa = 0;  ///< window in tokens; needed (>= 1) for ForkKind::kWindow
  ForkKind fork_kind = ForkKind::kFull;
  bool hybrid = false;  ///< with ForkKind::kRecurrent: a forward takes sequence ids in any order
  bool add_start_token = true;
  bool has_chat_template = true;
  bool can_generate = true;
  int eog_every = 40;  ///< on average every n-th generated token ends the answer; 0 = never

  /// If the prompt contains `when`, the generated text is `answer`, then end of generation; the
  /// first match wins. The prompt is what precedes the end of the last generation prompt. Without a
  /// chat template there is none: then all visible text is searched, and what of the answer is
  /// already written is the longest beginning of it that the text ends with. A forced answer beats
  /// a JSON schema.
  struct Forced {
    std::string when, answer;
  };
  std::vector<Forced> forced;
};

}  // namespace swarmkv::internal
