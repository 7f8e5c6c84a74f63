# cpack: a .tar.gz anywhere, a .deb where the tools are that CPack asks about libraries.
set(CPACK_GENERATOR TGZ)
find_program(GPUIMG_DPKG_DEB dpkg-deb)
find_program(GPUIMG_DPKG_SHLIBDEPS dpkg-shlibdeps)
find_program(GPUIMG_FILE file)
if(GPUIMG_DPKG_DEB AND GPUIMG_DPKG_SHLIBDEPS AND GPUIMG_FILE)
    list(APPEND CPACK_GENERATOR DEB)
endif()
set(CPACK_PACKAGE_VENDOR "gpuimg authors")
# Debian's policy wants an address; .invalid is reserved for what is none (RFC 2606).
set(CPACK_PACKAGE_CONTACT "gpuimg authors <authors@gpuimg.invalid>" CACHE STRING "Maintainer of the .deb")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "image pipelines on a GPU or on all CPU cores")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_RESOURCE_FILE_README ${PROJECT_SOURCE_DIR}/README.md)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
    WORLD_READ WORLD_EXECUTE)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION graphics)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
file(WRITE ${PROJECT_BINARY_DIR}/cmake/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/cmake/triggers)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PACKAGE_DESCRIPTION "Turns PNG and JPEG images gray or black and white, equalizes, blurs and
measures them, one or whole folders, on an NVIDIA GPU where there is one,
on all CPU cores where there is none, with the same bytes out on either.

The package has the program, its C library, shared and static, and the
header.")
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian_layout.cmake)
# In another project's build, packages are its affair.
if(PROJECT_IS_TOP_LEVEL)
    include(CPack)
endif()
