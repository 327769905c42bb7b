# An overlay port of the sources that it is in:
#   vcpkg install easyretry[postgres] --overlay-ports=packaging/vcpkg
# It has the library. The program comes with the packages and the image (docs/deployment.md).
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS
  FEATURES
    alerts EASYRETRY_ALERTS
    config EASYRETRY_CONFIG
    mxrmq EASYRETRY_MXRMQ
    mysql EASYRETRY_MYSQL
    nacos EASYRETRY_NACOS
    postgres EASYRETRY_POSTGRES
    redis EASYRETRY_REDIS
    remote EASYRETRY_REMOTE
    tracing EASYRETRY_TRACING
)

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    ${FEATURE_OPTIONS}
    -DEASYRETRY_SERVER=OFF
    -DEASYRETRY_TESTS=OFF
    -DEASYRETRY_EXAMPLES=OFF
    -DEASYRETRY_BENCHMARKS=OFF
    -DEASYRETRY_INSTALL=ON
    -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON
    # vcpkg's own: without it, CMake takes that of the machine, or none.
    "-DPKG_CONFIG_EXECUTABLE=${CURRENT_HOST_INSTALLED_DIR}/tools/pkgconf/pkgconf"
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/easyretry)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
