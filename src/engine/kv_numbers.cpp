// The half of kv_state.h that looks at every number.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/gguf_types.h"
#include "engine/kv_state.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

// Scales stand at the beginning of a block, one or two of half precision. 0: the type has no such
// blocks, or they are not known.
std::size_t n_scales_of(std::uint32_t type) {
  switch (type) {
    case 2:  // Q4_0
    case 6:  // Q5_0
    case 8:  // Q8_0
      return 1;
    case 3:  // Q4_1
    case 7:  // Q5_1
      return 2;
    default:
      return 0;
  }
}

// Where the first of them is that has all bits of its exponent set; `size` if there is none. Copied
// piece by piece, because a file does not align them; the inner loops become vector code.
template <typename T>
std::size_t first_not_finite(StateBytes bytes, T exponent) {
  constexpr std::size_t kPiece = 4096;
  T piece[kPiece];
  for (std::size_t done = 0; done < bytes.size(); done += sizeof piece) {
    const std::size_t n = std::min(sizeof piece, bytes.size() - done) / sizeof(T);
    std::memcpy(piece, bytes.data() + done, n * sizeof(T));
    T any = 0;
    for (std::size_t i = 0; i < n; ++i) {
      any = static_cast<T>(any | static_cast<T>((piece[i] & exponent) == exponent ? 1 : 0));
    }
    if (any == 0) continue;
    for (std::size_t i = 0; i < n; ++i) {
      if ((piece[i] & exponent) == exponent) return done + i * sizeof(T);
    }
  }
  return bytes.size();
}

std::size_t first_bad_scale(StateBytes bytes, std::size_t block_bytes, std::size_t n_scales) {
  for (std::size_t block = 0; block < bytes.size(); block += block_bytes) {
    for (std::size_t i = 0; i < n_scales; ++i) {
      std::uint16_t half = 0;
      std::memcpy(&half, bytes.data() + block + i * sizeof half, sizeof half);
      if ((half & 0x7c00) == 0x7c00) return block + i * sizeof half;
    }
  }
  return bytes.size();
}

std::size_t first_bad_number(StateBytes bytes, std::uint32_t type) {
  constexpr std::uint32_t kF32 = 0, kF16 = 1, kBF16 = 30;
  if (type == kF32) return first_not_finite<std::uint32_t>(bytes, 0x7f80'0000U);
  if (type == kF16) return first_not_finite<std::uint16_t>(bytes, 0x7c00);
  if (type == kBF16) return first_not_finite<std::uint16_t>(bytes, 0x7f80);
  const std::size_t n_scales = n_scales_of(type);
  if (n_scales > 0) return first_bad_scale(bytes, gguf_tensor_type(type)->block_bytes, n_scales);
  throw Error(ErrorCode::kUnsupported,
              fmt::format("[engine.state] numbers of type {} cannot be checked", type));
}

}  // namespace

void check_kv_numbers(StateBytes state, const KvStateShape& shape) {
  for (std::size_t i = 0; i < shape.tensors.size(); ++i) {
    const KvStateTensor& tensor = shape.tensors[i];
    const std::size_t at =
        first_bad_number(state.subspan(tensor.begin, tensor.n_bytes), tensor.type);
    if (at == tensor.n_bytes) continue;
    throw Error(ErrorCode::kCorrupt,
                fmt::format("[engine.state] the state of {} bytes holds a number that is not "
                            "finite: byte {}, in tensor {} of {}",
                            state.size(), tensor.begin + at, i + 1, shape.tensors.size()));
  }
}

}  // namespace swarmkv::internal
