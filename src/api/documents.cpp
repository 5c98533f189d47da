#include "api/documents.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "base/digest.h"
#include "swarmkv/error.h"
#include "text/utf8.h"

namespace swarmkv::internal {
namespace {

constexpr std::uintmax_t kLargestDocument = std::uintmax_t{1} << 30;

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

std::string read_all(const std::string& path, const std::string& shown) {
  const auto unreadable = [&](const std::string& why) {
    return Error(ErrorCode::kUnreadable, "[document.load] " + shown + ": " + why);
  };
  if (path == "-") {
    std::string text{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
    if (std::cin.bad()) throw unreadable("standard input cannot be read");
    return text;
  }
  std::error_code ec;
  const auto status = std::filesystem::status(path, ec);
  if (!std::filesystem::exists(status)) throw unreadable("no such file");
  if (std::filesystem::is_directory(status)) throw unreadable("is a directory, not a file");
  if (std::filesystem::is_regular_file(status)) {
    const auto size = std::filesystem::file_size(path, ec);
    if (!ec && size > kLargestDocument) {
      throw unreadable(std::to_string(size) + " bytes; the limit is " +
                       std::to_string(kLargestDocument));
    }
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) throw unreadable(std::strerror(errno));
  std::string text;
  try {
    text.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  } catch (const std::ios_base::failure& e) {
    throw unreadable(e.what());  // libstdc++ reports a read error this way, whatever the mask
  }
  if (in.bad()) throw unreadable("cannot be read to its end");
  return text;
}

}  // namespace

LoadedDocument load_document(const DocumentSpec& spec, const std::string& folder, bool strict,
                             std::vector<Diagnostic>& warnings) {
  LoadedDocument document{spec.name, {}, {}};
  const std::string shown = spec.text ? "document '" + spec.name + "'"
                                      : (spec.path == "-" ? std::string("standard input")
                                                          : "'" + sanitize_utf8(spec.path) + "'");
  if (spec.text) {
    document.text = *spec.text;
  } else {
    document.text = read_all(resolve_path(folder, spec.path), shown);
  }
  if (document.text.empty()) {
    throw Error(ErrorCode::kUnreadable, "[document.load] " + shown + ": is empty");
  }
  for (const BinaryFormat& format : kBinaryFormats) {
    if (document.text.compare(0, format.magic.size(), format.magic) == 0) {
      throw Error(ErrorCode::kUnsupported, "[document.load] " + shown + ": is " + format.name +
                                               ", not text; " + format.way_out);
    }
  }
  const ByteProblems problems = find_problem_bytes(document.text);
  if (problems.any()) {
    const std::string what = shown + " holds " + std::to_string(problems.n_invalid) +
                             " bytes that are not UTF-8 and " + std::to_string(problems.n_nul) +
                             " NUL bytes, the first at offset " +
                             std::to_string(problems.first_offset) + "; all are kept";
    if (strict) throw Error(ErrorCode::kUnreadable, "[document.load] " + what + " (--strict)");
    Diagnostic warning;
    warning.severity = Diagnostic::Severity::kWarning;
    warning.code = "SK602";
    warning.message = what;
    warning.pos = spec.pos;
    warnings.push_back(std::move(warning));
  }
  document.digest = digest128(document.text);
  return document;
}

}  // namespace swarmkv::internal
