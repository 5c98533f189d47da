#include "engine/llama/attention_backend.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "engine/llama/attention_op.h"
#include "engine/llama/attention_speed.h"
#include "engine/llama/attention_threads.h"
// The interface between ggml and its backends; its version is checked when the device is
// registered.
#include "ggml-backend-impl.h"

namespace swarmkv::internal {
namespace {

thread_local std::shared_ptr<AttentionHook> hook_in_scope;

constexpr const char* kName = "SwarmKV";

// The runtime asks a backend's device what it supports, so each backend has a device of its own:
// contexts of one process may have different kernels.
struct AttentionBackend {
  ggml_backend backend{};
  ggml_backend_device device{};
  std::shared_ptr<AttentionHook> hook;  // null: takes nothing
  AttentionThreads threads;
};

AttentionBackend& of(ggml_backend_t backend) {
  return *static_cast<AttentionBackend*>(backend->context);
}

ggml_status compute(ggml_backend_t backend, ggml_cgraph* graph) {
  AttentionBackend& own = of(backend);
  try {
    for (int i = 0; i < ggml_graph_n_nodes(graph); ++i) {
      const ggml_tensor* node = ggml_graph_node(graph, i);
      if (node->op != GGML_OP_FLASH_ATTN_EXT) continue;  // views of it
      AttentionHook& hook = *own.hook;
      hook.kernel.prepare(attention_shape(node), attention_tensors(node), hook.layouts.of(node),
                          hook.n_threads);
      const ggml_status status = own.threads.run(hook.kernel, hook.n_threads);
      if (status != GGML_STATUS_SUCCESS) return status;
      hook.was_used.store(true, std::memory_order_relaxed);
    }
  } catch (const std::exception&) {
    return GGML_STATUS_ALLOC_FAILED;
  }
  return GGML_STATUS_SUCCESS;
}

const std::string& why_left(AttentionHook& hook, const AttentionShape& s) {
  static const std::string is_not;
  if (!hook.why_leave_many_tokens || s.n_tokens < kTokensOfTiledKernel) return is_not;
  const std::tuple heads(s.head_size, s.n_heads, s.n_kv_heads);
  auto known = hook.left.find(heads);
  if (known == hook.left.end()) {
    known = hook.left.emplace(heads, hook.why_leave_many_tokens(s)).first;
  }
  return known->second;
}

bool supports(ggml_backend_dev_t device, const ggml_tensor* op) {
  if (op->op != GGML_OP_FLASH_ATTN_EXT || device->context == nullptr) return false;
  AttentionBackend& own = *static_cast<AttentionBackend*>(device->context);
  if (own.hook == nullptr || own.hook->is_off) return false;
  AttentionHook& hook = *own.hook;
  const std::string reason = why_not_grouped(op);
  if (!reason.empty()) {
    if (hook.refused.empty()) hook.refused = reason;
    return false;
  }
  const AttentionShape s = attention_shape(op);
  const auto same = [&s](const AttentionShape& other) {
    return other.head_size == s.head_size && other.n_heads == s.n_heads &&
           other.n_kv_heads == s.n_kv_heads;
  };
  // Also if this one is left to the runtime: a smaller batch of the same layer will not be.
  if (std::none_of(hook.taken.begin(), hook.taken.end(), same)) hook.taken.push_back(s);
  try {
    return why_left(hook, s).empty();
  } catch (const std::exception& error) {  // the runtime's frames are between us and who could
    if (hook.refused.empty()) hook.refused = error.what();
    return false;
  }
}

const char* device_name(ggml_backend_dev_t) { return kName; }
const char* backend_name(ggml_backend_t) { return kName; }
void free_backend(ggml_backend_t backend) { delete &of(backend); }
void no_memory(ggml_backend_dev_t, std::size_t* free, std::size_t* total) { *free = *total = 0; }
enum ggml_backend_dev_type device_type(ggml_backend_dev_t) {
  return GGML_BACKEND_DEVICE_TYPE_ACCEL;
}
ggml_backend_buffer_type_t buffer_type(ggml_backend_dev_t) {
  return ggml_backend_cpu_buffer_type();
}
bool supports_buffer(ggml_backend_dev_t, ggml_backend_buffer_type_t type) {
  return ggml_backend_buft_is_host(type);
}

void properties(ggml_backend_dev_t, ggml_backend_dev_props* props) {
  *props = {};
  props->name = props->description = kName;
  props->type = GGML_BACKEND_DEVICE_TYPE_ACCEL;
}

ggml_backend_t make_backend(ggml_backend_dev_t device, const char*) {
  static ggml_guid guid = {0x53, 0x77, 0x61, 0x72, 0x6d, 0x4b, 0x56, 0x2d,
                           0x61, 0x74, 0x74, 0x65, 0x6e, 0x74, 0x69, 0x6f};
  auto own = std::make_unique<AttentionBackend>();
  own->hook = hook_in_scope;
  own->device = *device;
  own->device.context = own.get();
  own->backend.guid = &guid;
  own->backend.iface.get_name = backend_name;
  own->backend.iface.free = free_backend;
  own->backend.iface.graph_compute = compute;
  own->backend.device = &own->device;
  own->backend.context = own.get();
  return &own.release()->backend;
}

void set_threads(ggml_backend_t backend, int n_threads) {
  if (of(backend).hook != nullptr) of(backend).hook->n_threads = std::max(n_threads, 1);
}

// The runtime looks up by name what is not in its table of functions.
void* function_named(ggml_backend_reg_t, const char* name) {
  if (std::strcmp(name, "ggml_backend_set_n_threads") != 0) return nullptr;
  return reinterpret_cast<void*>(&set_threads);
}

ggml_backend_device make_device(ggml_backend_reg_t registry) {
  ggml_backend_device device{};
  device.iface.get_name = device_name;
  device.iface.get_description = device_name;
  device.iface.get_memory = no_memory;
  device.iface.get_type = device_type;
  device.iface.get_props = properties;
  device.iface.init_backend = make_backend;
  device.iface.get_buffer_type = buffer_type;
  device.iface.supports_op = supports;
  device.iface.supports_buft = supports_buffer;
  device.reg = registry;
  return device;
}

}  // namespace

// The runtime keeps pointers to both until the process ends, hence the statics.
bool register_attention_device() {
  constexpr int kKnownVersion = 2;
  if (GGML_BACKEND_API_VERSION != kKnownVersion) return false;
  static ggml_backend_reg registry{};
  static ggml_backend_device device = make_device(&registry);
  static const bool once = [] {
    registry.api_version = GGML_BACKEND_API_VERSION;
    registry.iface.get_name = [](ggml_backend_reg_t) { return kName; };
    registry.iface.get_device_count = [](ggml_backend_reg_t) { return std::size_t{1}; };
    registry.iface.get_device = [](ggml_backend_reg_t, std::size_t) { return &device; };
    registry.iface.get_proc_address = function_named;
    ggml_backend_register(&registry);
    return true;
  }();
  return once;
}

AttentionScope::AttentionScope(std::shared_ptr<AttentionHook> hook) {
  hook_in_scope = std::move(hook);
}

AttentionScope::~AttentionScope() { hook_in_scope.reset(); }

}  // namespace swarmkv::internal
