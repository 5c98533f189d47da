#include "api/documents.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>

#include "base/digest.h"
#include "pipeline/document_file.h"
#include "swarmkv/error.h"
#include "text/utf8.h"

namespace swarmkv::internal {
namespace {

std::string read_all(const std::string& path, const std::string& shown) {
  const auto unreadable = [&](const std::string& why) {
    return Error(ErrorCode::kUnreadable, "[document.load] " + shown + ": " + why);
  };
  if (path == "-") {
    std::string text{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
    if (std::cin.bad()) throw unreadable("standard input cannot be read");
    return text;
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

// With what is known of the folder that it should be in.
void refuse_unreadable(const std::string& folder, const std::string& path,
                       const std::string& shown) {
  const FileProblem found = file_problem(folder, path);
  if (found.problem.empty()) return;
  throw Error(ErrorCode::kUnreadable, "[document.load] " + shown + ": " + found.problem +
                                          (found.hint.empty() ? "" : "; " + found.hint));
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
    refuse_unreadable(folder, spec.path, shown);
    document.text = read_all(resolve_path(folder, spec.path), shown);
  }
  if (document.text.empty()) {
    throw Error(ErrorCode::kUnreadable, "[document.load] " + shown + ": is empty");
  }
  if (const FileProblem binary = binary_format(document.text); !binary.problem.empty()) {
    throw Error(ErrorCode::kUnsupported,
                "[document.load] " + shown + ": " + binary.problem + "; " + binary.hint);
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
    warning.code = "SK610";
    warning.message = what;
    warning.pos = spec.pos;
    warnings.push_back(std::move(warning));
  }
  document.digest = digest128(document.text);
  return document;
}

}  // namespace swarmkv::internal
