#include "api/schema_check.h"

#include <string>

#include "engine/fake/fake_schema.h"
#include "engine/llama_engine.h"
#include "swarmkv/engine.h"

namespace swarmkv {
namespace internal {

std::string problem_of_schema(const std::function<void()>& attempt) {
  try {
    attempt();
    return "";
  } catch (const Error& error) {
    std::string problem = error.what();
    // The operation in front is for programmers; here the place in the file says more.
    if (problem.rfind('[', 0) == 0) problem.erase(0, problem.find("] ") + 2);
    std::string line;
    for (const char c : problem) {
      if (c != '\n') line += c;
      if (c == '\n') line += line.ends_with(':') ? " " : "; ";
    }
    return line;
  }
}

}  // namespace internal

SchemaCheck schema_check(const std::string& engine) {
  if (engine == "fake") {
    return [](const std::string& schema) {
      return internal::problem_of_schema([&] { (void)internal::smallest_instance(schema); });
    };
  }
  if (engine == "llama") {
    return [](const std::string& schema) {
      return internal::problem_of_schema([&] { internal::check_llama_schema(schema); });
    };
  }
  throw Error(ErrorCode::kInvalidArgument,
              "[model.schema_check] unknown engine '" + engine + "': llama or fake");
}

}  // namespace swarmkv
