#include "engine/fake/fake_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace swarmkv::internal {

bool FakeFaults::At::covers(int k) const {
  return k >= first && (times == kForever || k - first < times);
}

void FakeFaults::fail_at(int k, ForwardStatus status, int times, int keep) {
  if (status == ForwardStatus::kOk || keep < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("[fake.fail_at] needs a failure and keep >= 0: keep is {}", keep));
  }
  const std::lock_guard lock(m_);
  forwards_.push_back({k, times, {status, keep, {}}});
}

void FakeFaults::throw_at(int k, std::function<void()> thrower, int times) {
  const std::lock_guard lock(m_);
  forwards_.push_back({k, times, {std::nullopt, 0, std::move(thrower)}});
}

void FakeFaults::throw_error_at(int k, ErrorCode code, int times) {
  throw_at(
      k, [k, code] { throw Error(code, fmt::format("[fake.forward] told to throw at {}", k)); },
      times);
}

void FakeFaults::throw_std_at(int k, int times) {
  throw_at(
      k, [k] { throw std::runtime_error(fmt::format("told to throw at forward {}", k)); }, times);
}

void FakeFaults::throw_other_at(int k, int times) {
  throw_at(
      k, [k] { throw k; }, times);
}

void FakeFaults::throw_at_sample(int k, std::function<void()> thrower) {
  const std::lock_guard lock(m_);
  samples_.push_back({k, 1, {std::nullopt, 0, std::move(thrower)}});
}

void FakeFaults::short_save_at(int k, std::size_t n_bytes, int times) {
  const std::lock_guard lock(m_);
  saves_.push_back({k, times, n_bytes});
}

void FakeFaults::short_load_at(int k, std::size_t n_bytes, int times) {
  const std::lock_guard lock(m_);
  loads_.push_back({k, times, n_bytes});
}

void FakeFaults::set_no_device(bool none) {
  const std::lock_guard lock(m_);
  no_device_ = none;
}

void FakeFaults::on_forward(ForwardHook hook) {
  const std::lock_guard lock(m_);
  plan_.hook = std::move(hook);
}

void FakeFaults::on_context(std::function<void(FakeContext&)> hook) {
  const std::lock_guard lock(m_);
  on_context_ = std::move(hook);
}

void FakeFaults::set_token_delay(std::chrono::microseconds per_token) {
  const std::lock_guard lock(m_);
  plan_.token_delay = per_token;
}

void FakeFaults::set_drop_outside_window(bool drop) {
  const std::lock_guard lock(m_);
  plan_.drop_outside_window = drop;
}

void FakeFaults::set_verify(bool verify) {
  const std::lock_guard lock(m_);
  plan_.verify = verify;
}

void FakeFaults::refuse_contexts(ErrorCode code) {
  const std::lock_guard lock(m_);
  refuse_ = code;
}

void FakeFaults::clear() {
  const std::lock_guard lock(m_);
  forwards_.clear();
  samples_.clear();
  saves_.clear();
  loads_.clear();
  n_saves_ = n_loads_ = 0;
  no_device_ = false;
  plan_ = {};
  on_context_ = nullptr;
  refuse_.reset();
}

FakeFaults::Plan FakeFaults::plan() const {
  const std::lock_guard lock(m_);
  return plan_;
}

FakeFaults::Outcome FakeFaults::outcome(int k) const {
  const std::lock_guard lock(m_);
  for (const At& at : forwards_) {
    if (at.covers(k)) return at.outcome;
  }
  return {};
}

std::function<void()> FakeFaults::sample_thrower(int k) const {
  const std::lock_guard lock(m_);
  for (const At& at : samples_) {
    if (at.covers(k)) return at.outcome.thrower;
  }
  return {};
}

std::size_t FakeFaults::limited(const std::vector<Short>& faults, int k, std::size_t n_bytes) {
  for (const Short& fault : faults) {
    if (k < fault.first || (fault.times != kForever && k - fault.first >= fault.times)) continue;
    return std::min(n_bytes, fault.n_bytes);
  }
  return n_bytes;
}

std::size_t FakeFaults::saved_bytes(std::size_t n_bytes) const {
  const std::lock_guard lock(m_);
  return limited(saves_, ++n_saves_, n_bytes);
}

std::size_t FakeFaults::loaded_bytes(std::size_t n_bytes) const {
  const std::lock_guard lock(m_);
  return limited(loads_, ++n_loads_, n_bytes);
}

bool FakeFaults::no_device() const {
  const std::lock_guard lock(m_);
  return no_device_;
}

void FakeFaults::context_made(FakeContext& context) const {
  std::function<void(FakeContext&)> hook;
  std::optional<ErrorCode> refuse;
  {
    const std::lock_guard lock(m_);
    hook = on_context_;
    refuse = refuse_;
  }
  if (refuse) throw Error(*refuse, "[engine.make_context] the fake engine was told to refuse");
  if (hook) hook(context);
}

}  // namespace swarmkv::internal
