# Flags for our own targets. They hang on an interface target, so nothing reaches a parent project.
add_library(swarmkv_options INTERFACE)
target_compile_features(swarmkv_options INTERFACE cxx_std_20)
target_compile_options(swarmkv_options INTERFACE -Wall -Wextra -Wshadow -Wconversion
                                                 -Wno-sign-conversion)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(swarmkv_options INTERFACE -Wthread-safety)
endif()
if(SWARMKV_WERROR)
  target_compile_options(swarmkv_options INTERFACE -Werror)
endif()
if(SWARMKV_SANITIZE)
  target_compile_options(
    swarmkv_options INTERFACE -fsanitize=${SWARMKV_SANITIZE} -fno-omit-frame-pointer
                              -fno-sanitize-recover=all)
  target_link_options(swarmkv_options INTERFACE -fsanitize=${SWARMKV_SANITIZE})
endif()

# Speed only: a build without ccache gives the same result. Paths are taken relative to the tree, so that clones in
# other folders share what is cached; the last word allows precompiled headers.
if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(SWARMKV_CCACHE ccache)
  if(SWARMKV_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER
        "${CMAKE_COMMAND};-E;env;CCACHE_BASEDIR=${PROJECT_SOURCE_DIR};CCACHE_NOHASHDIR=1;CCACHE_SLOPPINESS=pch_defines,time_macros;${SWARMKV_CCACHE}"
    )
  endif()
endif()

# GCC 12 sees overlapping copies inside std::string's operator+ that are not there (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(swarmkv_options INTERFACE -Wno-restrict)
endif()
