#include "schedule/inbox.h"

#include <utility>

#include "base/deadline.h"

namespace swarmkv::internal {
namespace {

class Ticket final : public RequestTicket {
 public:
  Ticket(std::uint64_t id, bool keeps, std::shared_ptr<Inbox> inbox,
         std::shared_ptr<Mailbox> mailbox)
      : id_(id), keeps_(keeps), inbox_(std::move(inbox)), mailbox_(std::move(mailbox)) {}
  ~Ticket() override {
    if (keeps_) inbox_->let_go(id_);
  }
  void cancel() override { inbox_->cancel(id_); }
  Result wait() override { return mailbox_->wait(); }
  bool wait_for(std::chrono::milliseconds limit) override { return mailbox_->wait_for(limit); }

 private:
  const std::uint64_t id_;
  const bool keeps_;
  const std::shared_ptr<Inbox> inbox_;
  const std::shared_ptr<Mailbox> mailbox_;
};

}  // namespace

std::shared_ptr<RequestTicket> Inbox::submit(const Model& model, Delivery& delivery,
                                             Request request,
                                             std::shared_ptr<RequestListener> listener) {
  auto sampler = model.make_sampler(request.sampling);
  auto mailbox = std::make_shared<Mailbox>(delivery, std::move(listener));
  const std::uint64_t id = next_id_++;
  const bool keeps = request.keep;
  auto branch = std::make_unique<Branch>(id, std::move(request), std::move(sampler), mailbox);
  branch->result.enqueued = std::chrono::steady_clock::now();
  if (branch->request.timeout.count() > 0) {
    branch->deadline = deadline_after(*branch->result.enqueued, branch->request.timeout);
  }
  auto ticket = std::make_shared<Ticket>(id, keeps, shared_from_this(), std::move(mailbox));
  {
    const MutexLock lock(mutex_);
    submitted_.push_back(std::move(branch));
  }
  wake_.notify_one();
  return ticket;
}

std::shared_ptr<const void> Inbox::gather() {
  struct Gathering {
    explicit Gathering(std::shared_ptr<Inbox> to) : inbox(std::move(to)) {
      const MutexLock lock(inbox->mutex_);
      ++inbox->n_gathering_;
    }
    ~Gathering() {
      {
        const MutexLock lock(inbox->mutex_);
        --inbox->n_gathering_;
      }
      inbox->wake_.notify_one();
    }
    Gathering(const Gathering&) = delete;
    Gathering& operator=(const Gathering&) = delete;
    const std::shared_ptr<Inbox> inbox;
  };
  return std::make_shared<Gathering>(shared_from_this());
}

void Inbox::cancel(std::uint64_t id) {
  {
    const MutexLock lock(mutex_);
    cancelled_.push_back(id);
  }
  wake_.notify_one();
}

void Inbox::let_go(std::uint64_t id) {
  {
    const MutexLock lock(mutex_);
    let_go_.push_back(id);
  }
  wake_.notify_one();
}

void Inbox::stop() {
  {
    const MutexLock lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
}

std::future<SchedulerStats> Inbox::ask_stats() {
  std::promise<SchedulerStats> promise;
  auto future = promise.get_future();
  {
    const MutexLock lock(mutex_);
    asked_.push_back(std::move(promise));
  }
  wake_.notify_one();
  return future;
}

bool Inbox::call(std::function<void()> call) {
  {
    const MutexLock lock(mutex_);
    if (stop_) return false;
    calls_.push_back(std::move(call));
  }
  wake_.notify_one();
  return true;
}

Inbox::News Inbox::take(bool idle) {
  const MutexLock lock(mutex_);
  while (idle && asked_.empty() && calls_.empty() && !stop_) {
    const bool has_requests = !submitted_.empty() || !cancelled_.empty() || !let_go_.empty();
    if (has_requests && n_gathering_ == 0) break;
    wake_.wait(mutex_);
  }
  News news;
  if (n_gathering_ == 0 || stop_) {
    news.submitted = std::exchange(submitted_, {});
    news.cancelled = std::exchange(cancelled_, {});
    news.let_go = std::exchange(let_go_, {});
  }
  news.asked = std::exchange(asked_, {});
  news.calls = std::exchange(calls_, {});
  news.stop = stop_;
  return news;
}

}  // namespace swarmkv::internal
