#include "snapshot/mapped_bytes.h"

#include <sys/mman.h>

#include <cerrno>

#include "snapshot/snapshot_error.h"

namespace swarmkv::internal {

MappedBytes::MappedBytes(const FileHandle& file, std::size_t n_bytes, const std::string& path) {
  void* data = file.calls().map(file.fd(), n_bytes);
  if (data == MAP_FAILED) {
    throw SnapshotError(ErrorCode::kUnreadable, path, "file",
                        "cannot be mapped: " + error_text(errno));
  }
  data_ = static_cast<const std::uint8_t*>(data);
  n_bytes_ = n_bytes;
}

MappedBytes::~MappedBytes() {
  if (data_ != nullptr) ::munmap(const_cast<std::uint8_t*>(data_), n_bytes_);
}

}  // namespace swarmkv::internal
