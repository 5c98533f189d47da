# The cache folder outside the tree: llama.cpp's source and builds, models, compiler cache.
# scripts/common.sh computes the same path.
if(DEFINED ENV{SWARMKV_CACHE} AND NOT "$ENV{SWARMKV_CACHE}" STREQUAL "")
  set(_swarmkv_cache_default "$ENV{SWARMKV_CACHE}")
elseif(DEFINED ENV{XDG_CACHE_HOME} AND NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
  set(_swarmkv_cache_default "$ENV{XDG_CACHE_HOME}/swarmkv")
else()
  set(_swarmkv_cache_default "$ENV{HOME}/.cache/swarmkv")
endif()
set(SWARMKV_CACHE
    "${_swarmkv_cache_default}"
    CACHE PATH "Folder with llama.cpp builds and models (filled by scripts/)")
