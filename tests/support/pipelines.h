// Pipelines on the fake engine, built through the public headers alone.
#pragma once

#include <atomic>
#include <condition_variable>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "swarmkv/swarmkv.h"

namespace swarmkv::testing {

inline Model fake_model(ModelOptions options = {}) {
  options.engine = "fake";
  return Model::load(options);
}

/// A model that gives these answers: (text in the prompt, answer).
inline Model answering(std::vector<std::pair<std::string, std::string>> answers) {
  ModelOptions options;
  options.fake_answers = std::move(answers);
  return fake_model(options);
}

inline AgentSpec agent(std::string name, std::string prompt, int max_tokens = 16) {
  AgentSpec spec;
  spec.name = std::move(name);
  spec.prompt = std::move(prompt);
  spec.max_tokens = max_tokens;
  return spec;
}

inline AgentSpec function(std::string name, std::vector<std::string> needs,
                          std::function<std::string(const Answers&)> call) {
  AgentSpec spec;
  spec.name = std::move(name);
  spec.needs = std::move(needs);
  spec.function = std::move(call);
  return spec;
}

inline Pipeline pipeline_of(std::vector<AgentSpec> agents, std::string document = "The document.") {
  Pipeline pipeline;
  pipeline.agents = std::move(agents);
  DocumentSpec spec;
  spec.name = "doc";
  spec.text = std::move(document);
  pipeline.documents.push_back(std::move(spec));
  return pipeline;
}

/// An agent that talks for a long time unless somebody stops it.
inline AgentSpec talker(std::string name) {
  AgentSpec spec = agent(std::move(name), "talk", 100000);
  spec.ignore_eos = true;
  return spec;
}
inline EngineOptions room_for_talkers() {
  EngineOptions options;
  options.ctx_size = 120000;
  return options;
}

/// Opens once; whoever waits goes on then. Waits end after a minute, so that a broken test ends,
/// too.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  [[nodiscard]] bool wait() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60), [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

/// Keeps every event; `on` may react to one, on the run's observer thread.
class EventLog final : public Observer {
 public:
  explicit EventLog(std::function<void(const Event&)> on = {}) : on_(std::move(on)) {}
  void on_event(const Event& event) override {
    if (inside_.exchange(true)) overlapped = true;
    {
      const std::lock_guard lock(mutex_);
      events_.push_back(event);
    }
    if (on_) on_(event);
    inside_ = false;
  }
  [[nodiscard]] std::vector<Event> events() const {
    const std::lock_guard lock(mutex_);
    return events_;
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Event& e : events()) names.push_back(std::string(to_string(e.type)) + " " + e.name);
    return names;
  }

  std::atomic<bool> overlapped{false};

 private:
  std::function<void(const Event&)> on_;
  std::atomic<bool> inside_{false};
  mutable std::mutex mutex_;
  std::vector<Event> events_;
};

inline RunOptions observed_by(std::shared_ptr<Observer> observer) {
  RunOptions options;
  options.observers.push_back(std::move(observer));
  return options;
}

/// "finished", "failed", ... of every agent, in file order.
inline std::vector<std::string> statuses(const RunReport& report) {
  std::vector<std::string> out;
  for (const AgentReport& a : report.agents) out.push_back(to_string(a.status));
  return out;
}

/// A number of this process from /proc/self/status, such as "Threads:" or "VmRSS:" (in kB).
inline long process_number(const std::string& key) {
  std::ifstream in("/proc/self/status");
  std::string word;
  while (in >> word) {
    long value = 0;
    if (word == key && in >> value) return value;
  }
  return -1;
}

}  // namespace swarmkv::testing
