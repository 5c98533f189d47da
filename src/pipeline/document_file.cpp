#include "pipeline/document_file.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "pipeline/missing_file.h"
#include "text/utf8.h"

namespace swarmkv {
namespace internal {
namespace {

namespace fs = std::filesystem;

struct BinaryFormat {
  std::string_view magic;
  const char* name;
  const char* way_out;
};
constexpr std::array<BinaryFormat, 6> kBinaryFormats{{
    {"%PDF-", "a PDF", "convert it first, for example with pdftotext"},
    {"PK\x03\x04", "a ZIP archive (also .docx, .xlsx, .epub)", "extract or export it as text"},
    {"GGUF", "a model file", "give the document here and the model to -m"},
    {"\x1f\x8b", "gzip data", "decompress it first"},
    {"\x7f"
     "ELF",
     "a program", "give a text file"},
    {"\xd0\xcf\x11\xe0", "an old Office file", "export it as text"},
}};

// A path that is good from where the command was called, and not from the pipeline's folder.
std::string hint_of_folder(const std::string& folder, const std::string& path) {
  std::error_code error;
  if (fs::path(path).is_absolute() || !fs::is_regular_file(path, error)) return "";
  const fs::path from = fs::weakly_canonical(fs::absolute(folder, error), error);
  const fs::path written = fs::weakly_canonical(path, error).lexically_relative(from);
  if (error || written.empty()) return "";
  return "paths start at the pipeline's folder: write '" + sanitize_utf8(written.string()) + "'";
}

}  // namespace

FileProblem binary_format(std::string_view text) {
  for (const BinaryFormat& format : kBinaryFormats) {
    if (text.substr(0, format.magic.size()) != format.magic) continue;
    return {std::string("is ") + format.name + ", not text", format.way_out};
  }
  return {};
}

FileProblem file_problem(const std::string& folder, const std::string& path) {
  const std::string place = resolve_path(folder, path);
  if (place == "-") return {};
  // The system would read the name up to there, and open another file.
  if (path.find('\0') != std::string::npos) return {"has a NUL in its name", "remove it"};
  std::error_code error;
  const fs::file_status status = fs::status(place, error);
  if (status.type() == fs::file_type::none) return {error.message(), ""};
  if (!fs::exists(status)) {
    FileProblem missing = missing_file(place);
    if (std::string hint = hint_of_folder(folder, path); !hint.empty()) missing.hint = hint;
    return missing;
  }
  if (fs::is_directory(status)) return {"is a directory, not a file", "write the name of a file"};
  if (!fs::is_regular_file(status)) return {};
  const std::uintmax_t size = fs::file_size(place, error);
  if (!error && size > kLargestDocument) {
    return {std::to_string(size) + " bytes; the limit is " + std::to_string(kLargestDocument),
            "split it into several documents"};
  }
  if (!std::ifstream(place, std::ios::binary)) return {std::strerror(errno), ""};
  return {};
}

}  // namespace internal

FileProblem check_document(const std::string& folder, const std::string& path) {
  if (path == "-") return {};  // standard input, whatever file has that name
  FileProblem problem = internal::file_problem(folder, path);
  const std::string place = resolve_path(folder, path);
  std::error_code error;
  // Looking into a pipe would take from it.
  if (!problem.problem.empty() || !std::filesystem::is_regular_file(place, error)) return problem;
  std::ifstream in(place, std::ios::binary);
  std::array<char, 8> begin{};
  in.read(begin.data(), begin.size());
  const std::string_view text(begin.data(), static_cast<std::size_t>(in.gcount()));
  if (text.empty()) return {"is empty", "write text into it, or remove the document"};
  return internal::binary_format(text);
}

}  // namespace swarmkv
