#include "cli/ask_document.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "cli/settings.h"

namespace swarmkv::cli {
namespace {

// A readable name from the file's; what cannot be one becomes "document" in ask_pipeline.
std::string document_name(const std::string& path) {
  std::string name;
  for (const char c : std::filesystem::path(path).stem().string()) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte < 0x80 && std::isalnum(byte) != 0;
    name += plain ? static_cast<char>(std::tolower(byte)) : '_';
  }
  return name;
}

}  // namespace

DocumentSpec ask_document(const std::string& file) {
  if (file.empty()) throw UsageError("-f: the name of the document is empty");
  DocumentSpec document;
  document.path = file;
  document.name = file == "-" ? "stdin" : document_name(file);
  return document;
}

std::string document_title(const std::string& file) {
  return file == "-" ? "standard input" : std::filesystem::path(file).filename().string();
}

std::string title_of_documents(const std::vector<std::string>& files) {
  constexpr std::size_t kShown = 2;
  std::string title;
  for (std::size_t i = 0; i < std::min(files.size(), kShown); ++i) {
    title += (i > 0 ? ", " : "") + document_title(files[i]);
  }
  if (files.size() > kShown) title += " and " + std::to_string(files.size() - kShown) + " more";
  return title;
}

}  // namespace swarmkv::cli
