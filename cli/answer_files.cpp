#include "cli/answer_files.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "cli/folder_below.h"
#include "swarmkv/error.h"

namespace swarmkv::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorCode::kUnwritable, "[cli.write] cannot write '" + path + "': " + why);
}

bool lies_below(const fs::path& path, const fs::path& folder) {
  const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end() && rest != path.end();
}

// Where an answer really goes: names below the pipeline's folder, none of which is a link now.
std::vector<std::string> place_of(const std::string& path, const std::string& folder) {
  std::error_code error;
  const fs::path root = fs::canonical(folder.empty() ? "." : folder, error);
  if (error) refuse(path, "the pipeline's folder: " + error.message());
  // Made absolute first: of a relative path none of which exists yet, only "." and ".." would go.
  const fs::path target = fs::weakly_canonical(fs::absolute(path, error), error);
  if (error) refuse(path, error.message());
  if (!lies_below(target, root)) refuse(path, "it lies outside of the pipeline's folder");
  // What is still a link now leads to something that is yet to be made, who knows where.
  if (fs::is_symlink(target, error))
    refuse(path, "it is a link outside of the pipeline's folder, or to nothing");
  std::vector<std::string> names;
  for (const fs::path& name : target.lexically_relative(root)) names.push_back(name.string());
  return names;
}

// A link that somebody puts on the way from now on is not followed: the folder is walked to anew
// for each writing.
std::unique_ptr<ReportFile> open_place(const std::string& path, std::vector<std::string> names,
                                       const std::shared_ptr<const FolderBelow>& root) {
  const std::string name = names.back();
  names.pop_back();
  if (root->make(names).fd() < 0) cannot_write(path, errno);
  return std::make_unique<ReportFile>(
      ReportFile::Place{path, [root, names] { return root->open(names); }, name});
}

}  // namespace

std::string answer_path(const Pipeline& pipeline, const AgentSpec& agent) {
  return (fs::path(pipeline.folder) / agent.output_file).lexically_normal().string();
}

AnswerFiles::AnswerFiles(const Pipeline& pipeline) {
  std::shared_ptr<const FolderBelow> root;
  for (const AgentSpec& agent : pipeline.agents) {
    if (agent.output_file.empty()) continue;
    const std::string path = answer_path(pipeline, agent);
    if (!root) root = std::make_shared<const FolderBelow>(pipeline.folder);
    files_.emplace(agent.name, open_place(path, place_of(path, pipeline.folder), root));
  }
}

void AnswerFiles::on_event(const Event& event) {
  if (event.type != EventType::kAgentFinished) return;
  const auto file = files_.find(event.name);
  if (file == files_.end()) return;
  // As answers are printed: a text file ends its last line.
  const bool ends = event.text.empty() || event.text.back() == '\n';
  try {
    file->second->write(ends ? event.text : event.text + "\n");
  } catch (const Error& error) {
    // An observer that throws is removed, and the other answers matter as much.
    const std::lock_guard lock(mutex_);
    if (problem_.empty()) problem_ = error.what();
  }
}

void AnswerFiles::check() const {
  const std::lock_guard lock(mutex_);
  if (!problem_.empty()) throw Error(ErrorCode::kUnwritable, problem_);
}

void AnswerFiles::abandon() noexcept {
  for (const auto& [name, file] : files_) file->abandon();
}

}  // namespace swarmkv::cli
