// The files that agents' answers go to (output_file): checked before the model loads, each written
// whole as soon as its agent has finished.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cli/report_file.h"
#include "swarmkv/event.h"
#include "swarmkv/pipeline.h"

namespace swarmkv::cli {

/// Event thread while the run goes; check() afterwards; abandon() from any.
class AnswerFiles : public Observer {
 public:
  /// Makes missing folders, below the pipeline's folder only.
  /// errors  kUnwritable  a place that cannot be written or lies, by links too, outside of that
  /// folder
  explicit AnswerFiles(const Pipeline& pipeline);

  [[nodiscard]] bool empty() const { return files_.empty(); }
  void on_event(const Event& event) override;
  /// errors  kUnwritable  the first file that could not be written
  void check() const;
  /// For the last moment of a process, as ReportFile::abandon.
  void abandon() noexcept;

 private:
  std::map<std::string, std::unique_ptr<ReportFile>> files_;  ///< by agent
  mutable std::mutex mutex_;
  std::string problem_;
};

/// Where an agent's answer goes: its output_file, seen from the pipeline's folder.
std::string answer_path(const Pipeline& pipeline, const AgentSpec& agent);

}  // namespace swarmkv::cli
