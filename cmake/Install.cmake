# Install rules: the shared library with its headers, a CMake package, a pkg-config file, the command.
include(CMakePackageConfigHelpers)

install(
  TARGETS swarmkv
  EXPORT swarmkvTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(
  DIRECTORY "${PROJECT_SOURCE_DIR}/include/swarmkv"
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING
  PATTERN "*.h")
install(
  EXPORT swarmkvTargets
  NAMESPACE swarmkv::
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/swarmkv)

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/swarmkvConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/swarmkvConfig.cmake"
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/swarmkv)
# While the version is 0.x a minor release may break the API.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/swarmkvConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/swarmkvConfig.cmake"
              "${PROJECT_BINARY_DIR}/swarmkvConfigVersion.cmake"
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/swarmkv)

# The prefix in swarmkv.pc is relative to the file, so an installed tree may be moved.
file(RELATIVE_PATH SWARMKV_PC_TO_PREFIX "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
string(REGEX REPLACE "/$" "" SWARMKV_PC_TO_PREFIX "${SWARMKV_PC_TO_PREFIX}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/swarmkv.pc.in" "${PROJECT_BINARY_DIR}/swarmkv.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/swarmkv.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

foreach(_file LICENSE THIRD_PARTY.md)
  if(EXISTS "${PROJECT_SOURCE_DIR}/${_file}")
    install(FILES "${PROJECT_SOURCE_DIR}/${_file}" DESTINATION ${CMAKE_INSTALL_DOCDIR})
  endif()
endforeach()
