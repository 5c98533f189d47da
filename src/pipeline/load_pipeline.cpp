#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "pipeline/bounded_file.h"
#include "pipeline/file_texts.h"
#include "pipeline/yaml_reader.h"
#include "swarmkv/error.h"
#include "swarmkv/pipeline.h"

namespace swarmkv {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const {
    if (file != stdin) std::fclose(file);
  }
};

[[noreturn]] void unreadable(const std::string& path, const std::string& why) {
  throw Error(ErrorCode::kUnreadable,
              fmt::format("[pipeline.load] cannot read '{}': {}", path, why));
}

// Reads by size limit, not by announced size: pipes and /dev/zero announce nothing.
std::string read_bounded(std::FILE* file, const std::string& path) {
  std::string text;
  std::array<char, 65536> buffer{};
  for (;;) {
    const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), file);
    text.append(buffer.data(), n);
    if (text.size() > internal::kMaxFileBytes) {
      unreadable(path, fmt::format("larger than {} bytes, the most a pipeline file may have",
                                   internal::kMaxFileBytes));
    }
    if (n < buffer.size()) break;
  }
  if (std::ferror(file) != 0) unreadable(path, std::strerror(errno));
  return text;
}

ParsedPipeline load_from_standard_input(const PipelineChanges& changes, const FileReader& files,
                                        const SchemaCheck& check_schema,
                                        const DocumentCheck& check_document) {
  ParsedPipeline parsed = parse_pipeline(read_bounded(stdin, "standard input"), "-", changes, files,
                                         check_schema, check_document);
  if (!parsed.ok()) return parsed;
  for (const DocumentSpec& document : parsed.pipeline.documents) {
    if (document.path != "-") continue;
    Diagnostic clash;
    clash.code = "SK105";
    clash.message = "the pipeline and its document cannot both come from standard input";
    clash.hint = "write the pipeline into a file, or the document";
    clash.pos = document.pos;
    parsed.diagnostics.push_back(std::move(clash));
  }
  return parsed;
}

}  // namespace

namespace internal {

std::string read_bounded_file(const std::string& path) {
  if (path == "-") return read_bounded(stdin, "standard input");
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) unreadable(path, "it is a directory");
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (!file) unreadable(path, std::strerror(errno));
  return read_bounded(file.get(), path);
}

}  // namespace internal

ParsedPipeline load_pipeline(const std::string& path, const PipelineChanges& changes,
                             const SchemaCheck& check_schema, const DocumentCheck& check_document) {
  const std::string folder = path == "-" ? "" : std::filesystem::path(path).parent_path().string();
  const FileReader files = [&folder](const std::string& file) {
    return internal::read_file_below(folder, file);
  };
  if (path == "-") return load_from_standard_input(changes, files, check_schema, check_document);
  return parse_pipeline(internal::read_bounded_file(path), path, changes, files, check_schema,
                        check_document);
}

}  // namespace swarmkv
