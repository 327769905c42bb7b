# Packages by CPack: `./run --deb` makes them of the preset `package`, `./run --rpm` of `package-rpm`, whose library is in /usr/lib64.
#
#   easyretry           the program, its unit, configuration, manual page and completions
#   libeasyretry0       the shared library; only in a build with BUILD_SHARED_LIBS, as the next one
#   libeasyretry-dev    headers, and the files for CMake and pkg-config
#
# Needs dpkg-dev and file for -G DEB, rpm for -G RPM.
include(GNUInstallDirs)
set(packaging ${CMAKE_CURRENT_LIST_DIR})
set(CPACK_COMPONENTS_ALL)
if(EASYRETRY_HAS_server)
  list(APPEND CPACK_COMPONENTS_ALL program service)
endif()
if(BUILD_SHARED_LIBS AND EASYRETRY_INSTALL)
  list(APPEND CPACK_COMPONENTS_ALL library development)
endif()
if(NOT CPACK_COMPONENTS_ALL)
  return()
endif()

# --- Files that only packages have -------------------------------------------------------------------------------------

# Not installed by `cmake --install`: one file is for /etc, whatever the prefix is.
install(FILES ${packaging}/easyretry.service ${packaging}/easyretry.socket DESTINATION lib/systemd/system
  COMPONENT service EXCLUDE_FROM_ALL)
install(FILES ${packaging}/debian/easyretry.yaml DESTINATION /etc/easyretry COMPONENT service EXCLUDE_FROM_ALL)
install(FILES ${packaging}/alert-rules.yaml ${packaging}/grafana-dashboard.json DESTINATION ${CMAKE_INSTALL_DATADIR}/easyretry
  COMPONENT service EXCLUDE_FROM_ALL)

# Debian wants a compressed changelog, and a copyright file in each package. -n: the same bytes from every build.
set(changelog ${CMAKE_BINARY_DIR}/packaging/changelog.gz)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/packaging)
execute_process(COMMAND gzip -9nc ${packaging}/debian/changelog OUTPUT_FILE ${changelog} COMMAND_ERROR_IS_FATAL ANY)
set(documented service library development)
set(packages easyretry libeasyretry0 libeasyretry-dev)
foreach(component package IN ZIP_LISTS documented packages)
  install(FILES ${packaging}/debian/copyright ${changelog} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package}
    COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()

# --- All packages ------------------------------------------------------------------------------------------------------

set(CPACK_PACKAGE_NAME easyretry)
set(CPACK_PACKAGE_VENDOR "The EasyRetry authors")
set(CPACK_PACKAGE_CONTACT "The EasyRetry authors <easyretry@example.org>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_SET_DESTDIR ON)  # else a file for /etc would be installed on this machine
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENT_PROGRAM_GROUP daemon)
set(CPACK_COMPONENT_SERVICE_GROUP daemon)
set(about "EasyRetry stores failed calls in a database and retries them until they
succeed or their policy gives up. This package has")
set(CPACK_DEBIAN_DAEMON_DESCRIPTION "Retries failed calls until they succeed
${about} the daemon, which
programs in any language use over HTTP, and the command line.")
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "Retries failed calls until they succeed (library)
${about} the shared
library for programs that embed it.")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Retries failed calls until they succeed (development files)
${about} the headers
and the files for CMake and pkg-config.")

# --- Debian ------------------------------------------------------------------------------------------------------------

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_DAEMON_PACKAGE_NAME easyretry)
set(CPACK_DEBIAN_DAEMON_PACKAGE_SECTION net)
set(CPACK_DEBIAN_DAEMON_PACKAGE_DEPENDS "init-system-helpers (>= 1.54~)")
set(CPACK_DEBIAN_DAEMON_PACKAGE_RECOMMENDS "ca-certificates")
set(CPACK_DEBIAN_DAEMON_PACKAGE_CONTROL_EXTRA ${packaging}/debian/conffiles ${packaging}/debian/postinst ${packaging}/debian/prerm
  ${packaging}/debian/postrm)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libeasyretry0)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
# Before 1.0 a new minor version may change the interface, and the package's name has no minor version. So a program's package depends
# on this very version, and an upgrade of the library alone cannot break the program (docs/decisions/051-packages.md).
set(control_of_library ${CMAKE_BINARY_DIR}/packaging/library)
file(WRITE ${control_of_library}/shlibs
  "libeasyretry ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} libeasyretry0 (= ${PROJECT_VERSION})\n")
file(WRITE ${control_of_library}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${control_of_library}/shlibs ${control_of_library}/triggers)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libeasyretry-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_COMPONENT_DEVELOPMENT_DEPENDS library)

# --- RPM ---------------------------------------------------------------------------------------------------------------

set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_SUMMARY "Retries failed calls until they succeed")
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_PACKAGE_RELOCATABLE OFF)
set(CPACK_RPM_DAEMON_PACKAGE_NAME easyretry)
set(CPACK_RPM_DAEMON_PACKAGE_DESCRIPTION "${CPACK_DEBIAN_DAEMON_DESCRIPTION}")
set(CPACK_RPM_DAEMON_USER_FILELIST "%config(noreplace) /etc/easyretry/easyretry.yaml")
set(CPACK_RPM_DAEMON_POST_INSTALL_SCRIPT_FILE ${packaging}/rpm/post)
set(CPACK_RPM_DAEMON_PRE_UNINSTALL_SCRIPT_FILE ${packaging}/rpm/preun)
set(CPACK_RPM_DAEMON_POST_UNINSTALL_SCRIPT_FILE ${packaging}/rpm/postun)
set(CPACK_RPM_LIBRARY_PACKAGE_NAME libeasyretry0)
set(CPACK_RPM_DEVELOPMENT_PACKAGE_NAME libeasyretry-dev)
set(CPACK_RPM_DEVELOPMENT_PACKAGE_REQUIRES "libeasyretry0 = ${PROJECT_VERSION}")
# Folders of the distribution, which are not ours.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /etc/easyretry /usr/lib/systemd /usr/lib/systemd/system /usr/share/bash-completion
  /usr/share/bash-completion/completions /usr/share/fish /usr/share/fish/vendor_completions.d /usr/share/man
  /usr/share/man/man1 /usr/share/zsh /usr/share/zsh/site-functions /usr/${CMAKE_INSTALL_LIBDIR} /usr/${CMAKE_INSTALL_LIBDIR}/cmake
  /usr/${CMAKE_INSTALL_LIBDIR}/pkgconfig)

include(CPack)
