// What a test cannot ask of a build with a sanitizer.
#pragma once

namespace swarmkv::internal {

// GCC defines names, Clang has features.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SWARMKV_TEST_SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SWARMKV_TEST_SANITIZED
#endif

/// Whether freed memory stays with the process for a while, to catch its use.
#ifdef SWARMKV_TEST_SANITIZED
inline constexpr bool kKeepsFreedMemory = true;
#else
inline constexpr bool kKeepsFreedMemory = false;
#endif

}  // namespace swarmkv::internal
