# What is installed. Nothing in it names the prefix, so that the tree may be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/gpuimg)

# A program that links libgpuimg.so needs nothing else; hence a file of targets for each library.
install(TARGETS gpuimg_cli)
foreach(library shared static)
    install(TARGETS gpuimg_${library} EXPORT gpuimg-${library} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
    install(EXPORT gpuimg-${library} NAMESPACE gpuimg:: DESTINATION ${package_dir})
endforeach()
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/gpuimg-config.cmake.in
    ${PROJECT_BINARY_DIR}/cmake/gpuimg-config.cmake INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may break what used the one before.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/gpuimg-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/gpuimg-config.cmake
    ${PROJECT_BINARY_DIR}/cmake/gpuimg-config-version.cmake DESTINATION ${package_dir})

# pkg-config: the prefix from the file's own place, unless the libraries' folder has nothing to do with it.
set(pc_libdir ${CMAKE_INSTALL_FULL_LIBDIR})
set(pc_includedir ${CMAKE_INSTALL_FULL_INCLUDEDIR})
set(pc_prefix ${CMAKE_INSTALL_PREFIX})
if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" AND NOT IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
    string(REGEX REPLACE "/$" "" up "${up}")
    set(pc_prefix "\${pcfiledir}/${up}")
    set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
    set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
set(pc_private "${OpenMP_C_FLAGS} -pthread")
foreach(library file IN ZIP_LISTS GPUIMG_CODEC_LIBRARIES GPUIMG_CODEC_FILES)
    get_filename_component(folder ${file} DIRECTORY)
    if(NOT folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
        string(APPEND pc_private " -L${folder}")
    endif()
    string(APPEND pc_private " -l${library}")
endforeach()
string(APPEND pc_private " -lm")
if(GPUIMG_HAVE_CUDA)
    string(APPEND pc_private " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lrt -ldl -lstdc++")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/gpuimg.pc.in ${PROJECT_BINARY_DIR}/cmake/gpuimg.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cmake/gpuimg.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(DIRECTORY ${GPUIMG_SHARE}/man/man1/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
foreach(folder bash-completion zsh fish)
    install(DIRECTORY ${GPUIMG_SHARE}/${folder} DESTINATION ${CMAKE_INSTALL_DATADIR})
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
