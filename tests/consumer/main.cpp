// The whole way through the public surface: model, engine, two requests on one prefix, an error.
#include <swarmkv/swarmkv.h>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>

int main() {
  swarmkv::ModelOptions model_options;
  model_options.engine = "fake";
  const swarmkv::Model model = swarmkv::Model::load(model_options);
  swarmkv::Engine engine(model, swarmkv::EngineOptions{});

  const auto document =
      std::make_shared<const swarmkv::Tokens>(model.tokenize("Read once, by everybody who asks."));
  auto ask = [&](const std::string& question) {
    swarmkv::Request request;
    request.prefix = document;
    request.suffix = model.tokenize(question);
    request.max_tokens = 4;
    request.ignore_eos = true;
    return engine.submit(std::move(request));
  };
  swarmkv::RequestHandle first = ask("Who?");
  swarmkv::RequestHandle second = ask("What?");
  for (const swarmkv::Result& result : {first.wait(), second.wait()}) {
    if (result.state != swarmkv::RequestState::kFinished || result.tokens.size() != 4) {
      std::fprintf(stderr, "unexpected result: %s\n", result.error.c_str());
      return 1;
    }
  }

  // An exception must keep its type across the library's border.
  try {
    swarmkv::ModelOptions missing;
    missing.path = "/nonexistent/model.gguf";
    static_cast<void>(swarmkv::Model::load(missing));
    std::fputs("a missing model was accepted\n", stderr);
    return 1;
  } catch (const swarmkv::Error& error) {
    std::printf("swarmkv %s: %s\n", swarmkv::version(), error.what());
  }
  return 0;
}
