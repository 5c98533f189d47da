#include "handoff/arm.h"

#include <utility>

#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

constexpr SeqId kOwn = 0;  // the only sequence of a context that is one agent's
// device: one context for both, one after the other
constexpr SeqId kDocument = 0, kAgent = 1;

// A context for one agent at a time, used once. The one made at construction serves the first.
class FreshContexts {
 public:
  explicit FreshContexts(ContextFactory factory)
      : factory_(std::move(factory)), context_(factory_()), n_cells_(context_->n_cells()) {}

  Context& take() {
    if (used_) context_ = factory_();
    used_ = true;
    return *context_;
  }
  void drop() {
    if (used_) context_.reset();
  }
  [[nodiscard]] int n_cells() const { return n_cells_; }
  [[nodiscard]] std::uint64_t kv_bytes() const { return context_ ? context_->kv_size_bytes() : 0; }

 private:
  ContextFactory factory_;
  std::unique_ptr<Context> context_;
  int n_cells_;
  bool used_ = false;
};

class RecomputeArm final : public Arm {
 public:
  explicit RecomputeArm(ContextFactory factory) : contexts_(std::move(factory)) {}

  Place begin_empty() override { return {&contexts_.take(), kOwn}; }
  Place begin(PrefixWork& work) override {
    Context& context = contexts_.take();
    work.compute(context, kOwn);
    work.ready();
    return {&context, kOwn};
  }
  void end() override { contexts_.drop(); }
  void lost() override { contexts_.drop(); }
  bool computes_once() const override { return false; }
  int n_cells() const override { return contexts_.n_cells(); }
  std::uint64_t kv_bytes() const override { return contexts_.kv_bytes(); }
  std::uint64_t n_restores() const override { return 0; }

 private:
  FreshContexts contexts_;
};

class SnapshotArm final : public Arm {
 public:
  explicit SnapshotArm(ContextFactory factory) : contexts_(std::move(factory)) {}

  Place begin_empty() override { return {&contexts_.take(), kOwn}; }
  Place begin(PrefixWork& work) override {
    if (work.tokens() != saved_) {
      forget();
      Context& context = contexts_.take();
      work.compute(context, kOwn);
      state_ = context.save(kOwn, Where::kHost);
      saved_ = work.tokens();
      contexts_.drop();
    }
    work.ready();
    Context& context = contexts_.take();
    context.load(state_, kOwn);
    ++n_restores_;
    return {&context, kOwn};
  }
  void end() override { contexts_.drop(); }
  void lost() override {
    contexts_.drop();
  }  // the copy is host memory: no engine failure reaches it
  bool computes_once() const override { return true; }
  int n_cells() const override { return contexts_.n_cells(); }
  std::uint64_t kv_bytes() const override { return contexts_.kv_bytes() + state_.bytes.size(); }
  std::uint64_t n_restores() const override { return n_restores_; }

 private:
  void forget() {
    saved_.clear();
    state_ = {};
  }

  FreshContexts contexts_;
  Tokens saved_;  // the prefix that state_ holds
  SequenceState state_;
  std::uint64_t n_restores_ = 0;
};

class DeviceArm final : public Arm {
 public:
  explicit DeviceArm(ContextFactory factory)
      : factory_(std::move(factory)), context_(factory_()), n_cells_(context_->n_cells()) {}

  Place begin_empty() override { return {&context(), kAgent}; }
  Place begin(PrefixWork& work) override {
    Context& c = context();
    if (work.tokens() != saved_) {
      saved_.clear();
      state_ = {};
      work.compute(c, kDocument);
      state_ = c.save(kDocument, Where::kDevice);
      saved_ = work.tokens();
      c.release(kDocument);  // else the pool would hold the document twice
    }
    work.ready();
    c.load(state_, kAgent);
    ++n_restores_;
    return {&c, kAgent};
  }
  void end() override {
    if (context_ == nullptr) return;
    context_->release(kDocument);  // where a prefix was left half done
    context_->release(kAgent);
  }
  void lost() override {
    context_.reset();  // and the saved state with it
    state_ = {};
    saved_.clear();
  }
  bool computes_once() const override { return true; }
  int n_cells() const override { return n_cells_; }
  std::uint64_t kv_bytes() const override {
    return (context_ ? context_->kv_size_bytes() : 0) + state_.size_bytes;
  }
  std::uint64_t n_restores() const override { return n_restores_; }

 private:
  Context& context() {
    if (context_ == nullptr) context_ = factory_();
    return *context_;
  }

  ContextFactory factory_;
  std::unique_ptr<Context> context_;
  int n_cells_;
  Tokens saved_;
  SequenceState state_;
  std::uint64_t n_restores_ = 0;
};

}  // namespace

std::unique_ptr<Arm> make_arm(Handoff handoff, ContextFactory factory) {
  switch (handoff) {
    case Handoff::kRecompute:
      return std::make_unique<RecomputeArm>(std::move(factory));
    case Handoff::kSnapshot:
      return std::make_unique<SnapshotArm>(std::move(factory));
    case Handoff::kDevice:
      return std::make_unique<DeviceArm>(std::move(factory));
    case Handoff::kShared:
      break;
  }
  throw Error(ErrorCode::kInvalidArgument,
              "[handoff] shared is the scheduler's way and has no arm of its own");
}

}  // namespace swarmkv::internal
