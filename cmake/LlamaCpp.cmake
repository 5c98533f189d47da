# Finds the llama.cpp build that scripts/get-llama made in the cache. Nothing is downloaded or built
# at configure time. Results:
#   SWARMKV_WITH_LLAMA    ON or OFF
#   SWARMKV_LLAMA_COMMIT  what the build was made from
#   llama_headers         interface target: include folders, for src/engine/llama alone
#   llama_static          interface target: the static libraries and what they need, in link order
set(SWARMKV_LLAMA_PIN 0c1e570)
set(SWARMKV_LLAMA_DIR
    "$ENV{SWARMKV_LLAMA_DIR}"
    CACHE PATH "llama.cpp source tree; empty = the pinned one that scripts/get-llama fetched")
set(SWARMKV_WITH_LLAMA OFF)
set(SWARMKV_LLAMA_COMMIT "none")

if(SWARMKV_CUDA AND SWARMKV_LLAMA STREQUAL "OFF")
  message(FATAL_ERROR "SWARMKV_CUDA=ON needs the llama.cpp engine: drop SWARMKV_LLAMA=OFF")
endif()
if(SWARMKV_LLAMA STREQUAL "OFF")
  return()
endif()

# The key under which get-llama files a build; keep in step with scripts/get-llama.
if(SWARMKV_LLAMA_DIR)
  file(REAL_PATH "${SWARMKV_LLAMA_DIR}" _llama_real)
  string(SHA256 _llama_hash "${_llama_real}")
  string(SUBSTRING "${_llama_hash}" 0 12 _llama_hash)
  set(_llama_key "own-${_llama_hash}")
else()
  set(_llama_key "${SWARMKV_LLAMA_PIN}")
endif()
if(SWARMKV_CUDA)
  string(APPEND _llama_key "-cuda")
  set(_llama_how "SWARMKV_CUDA=ON scripts/get-llama")
else()
  string(APPEND _llama_key "-cpu")
  set(_llama_how "scripts/get-llama")
endif()
if(SWARMKV_LLAMA_DIR)
  set(_llama_how "SWARMKV_LLAMA_DIR=${SWARMKV_LLAMA_DIR} ${_llama_how}")
endif()
set(_llama_record "${SWARMKV_CACHE}/build/${_llama_key}.cmake")

# With AUTO a missing build means the fake engine only, unless CUDA was asked for by name.
function(_swarmkv_llama_missing what)
  if(SWARMKV_LLAMA STREQUAL "AUTO" AND NOT SWARMKV_CUDA)
    message(STATUS "SwarmKV: ${what}; building with the fake engine only (run ${_llama_how})")
  else()
    message(FATAL_ERROR "${what}: run ${_llama_how}, then configure again")
  endif()
endfunction()

if(NOT EXISTS "${_llama_record}")
  _swarmkv_llama_missing("no llama.cpp build is recorded in ${_llama_record}")
  return()
endif()
# A rebuilt llama.cpp must reach an already configured tree.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${_llama_record}")
include("${_llama_record}") # SWARMKV_LLAMA_SOURCE, SWARMKV_LLAMA_BUILD, SWARMKV_LLAMA_COMMIT

add_library(llama_headers INTERFACE)
# ggml/src holds the interface between ggml and its backends (ggml-backend-impl.h), src/ the KV cache that tells which
# cell holds which position (llama-kv-cache.h). vendor/ carries llama-common's own nlohmann/json: these folders are for
# engine/llama alone, where they come before the distribution's.
target_include_directories(
  llama_headers SYSTEM
  INTERFACE "${SWARMKV_LLAMA_SOURCE}/include" "${SWARMKV_LLAMA_SOURCE}/common"
            "${SWARMKV_LLAMA_SOURCE}/ggml/include" "${SWARMKV_LLAMA_SOURCE}/vendor"
            "${SWARMKV_LLAMA_SOURCE}/ggml/src" "${SWARMKV_LLAMA_SOURCE}/src")

add_library(llama_static INTERFACE)
set(_llama_required llama-common llama ggml ggml-cpu ggml-base)
if(SWARMKV_CUDA)
  list(APPEND _llama_required ggml-cuda)
endif()
foreach(_lib llama-common llama-common-base cpp-httplib llama ggml ggml-cuda ggml-cpu ggml-base)
  if(_lib STREQUAL "ggml-cuda" AND NOT SWARMKV_CUDA)
    continue()
  endif()
  file(GLOB_RECURSE _found "${SWARMKV_LLAMA_BUILD}/lib${_lib}.a")
  if(_found)
    list(GET _found 0 _found)
    target_link_libraries(llama_static INTERFACE "${_found}")
  elseif(_lib IN_LIST _llama_required)
    _swarmkv_llama_missing("lib${_lib}.a is missing below ${SWARMKV_LLAMA_BUILD}")
    return()
  endif()
endforeach()

file(STRINGS "${SWARMKV_LLAMA_BUILD}/CMakeCache.txt" _llama_openmp REGEX "^GGML_OPENMP_ENABLED:.*=ON$")
if(_llama_openmp)
  find_package(OpenMP REQUIRED COMPONENTS CXX)
  target_link_libraries(llama_static INTERFACE ${OpenMP_CXX_LIBRARIES})
endif()
if(SWARMKV_CUDA)
  find_package(CUDAToolkit REQUIRED)
  target_link_libraries(llama_static INTERFACE CUDA::cudart_static CUDA::cublas CUDA::cublasLt
                                               CUDA::cuda_driver)
endif()
target_link_libraries(llama_static INTERFACE Threads::Threads ${CMAKE_DL_LIBS} m)
set(SWARMKV_WITH_LLAMA ON)
message(STATUS "SwarmKV: llama.cpp ${SWARMKV_LLAMA_COMMIT} from ${SWARMKV_LLAMA_BUILD}")
