#include "handoff/serial_runner.h"

#include <optional>
#include <thread>
#include <utility>

#include "handoff/serial_loop.h"
#include "schedule/delivery.h"
#include "schedule/request_check.h"

namespace swarmkv::internal {

struct SerialRunner::Impl {
  Impl(std::shared_ptr<const Model> m, std::unique_ptr<Arm> a, AttentionUse use,
       SerialOptions options)
      : model(std::move(m)),
        arm(std::move(a)),
        attention(std::move(use)),
        n_cells(arm->n_cells()),
        loop(*model, *arm, options, *inbox),
        thread([this] { loop.run(); }) {}

  std::shared_ptr<const Model> model;
  std::unique_ptr<Arm> arm;
  const AttentionUse attention;
  const int n_cells;
  Delivery delivery;
  std::shared_ptr<Inbox> inbox = std::make_shared<Inbox>();
  SerialLoop loop;
  std::thread thread;  // last: it uses all of the above
};

SerialRunner::SerialRunner(std::shared_ptr<const Model> model, Handoff handoff,
                           ContextFactory factory, SerialOptions options) {
  // All contexts of an arm are made alike, so the first one speaks for them.
  auto use = std::make_shared<std::optional<AttentionUse>>();
  ContextFactory noting = [make = std::move(factory), use] {
    auto context = make();
    if (!use->has_value()) *use = context->attention();
    return context;
  };
  auto arm = make_arm(handoff, std::move(noting));
  const AttentionUse attention = use->value_or(AttentionUse{});
  impl_ = std::make_unique<Impl>(std::move(model), std::move(arm), attention, options);
}

SerialRunner::~SerialRunner() {
  impl_->inbox->stop();
  impl_->loop.abort();
  impl_->thread.join();
}

std::shared_ptr<RequestTicket> SerialRunner::submit(Request request,
                                                    std::shared_ptr<RequestListener> listener) {
  check_request(request, impl_->model->info(), impl_->n_cells);
  return impl_->inbox->submit(*impl_->model, impl_->delivery, std::move(request),
                              std::move(listener));
}

SchedulerStats SerialRunner::stats() const { return impl_->inbox->ask_stats().get(); }

int SerialRunner::n_cells() const { return impl_->n_cells; }

AttentionUse SerialRunner::attention() const { return impl_->attention; }

}  // namespace swarmkv::internal
