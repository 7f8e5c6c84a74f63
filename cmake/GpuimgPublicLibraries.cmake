# The public libraries export the names of gpuimg.h and nothing else. A static library cannot hide symbols by itself: its
# objects are first linked into one, in which every other name becomes local.
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(export_map ${PROJECT_SOURCE_DIR}/src/gpuimg.map)
add_library(gpuimg_shared SHARED)
target_link_libraries(gpuimg_shared PRIVATE gpuimg_objects)
target_include_directories(gpuimg_shared INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
target_link_options(gpuimg_shared PRIVATE -Wl,--version-script=${export_map})
set_target_properties(gpuimg_shared PROPERTIES OUTPUT_NAME gpuimg VERSION ${PROJECT_VERSION} SOVERSION 0
    EXPORT_NAME gpuimg PUBLIC_HEADER ${PROJECT_SOURCE_DIR}/src/gpuimg.h LINK_DEPENDS ${export_map})

# GNU binutils by name: with clang, CMake may have found LLVM's, which lack an option of these.
find_program(GPUIMG_LD NAMES ld.bfd ld REQUIRED)
find_program(GPUIMG_OBJCOPY objcopy REQUIRED)
set(merged_object ${PROJECT_BINARY_DIR}/src/gpuimg_merged.o)
add_custom_command(OUTPUT ${merged_object}
    COMMAND ${GPUIMG_LD} -r -d --force-group-allocation -o ${merged_object} $<TARGET_OBJECTS:gpuimg_objects>
    COMMAND ${GPUIMG_OBJCOPY} --wildcard --keep-global-symbol=gpuimg_* ${merged_object}
    DEPENDS gpuimg_objects $<TARGET_OBJECTS:gpuimg_objects> COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Merging the objects of libgpuimg.a")
add_library(gpuimg_static STATIC ${merged_object})
# Once installed, OpenMP is its flag alone: who links need not look for it.
target_link_libraries(gpuimg_static INTERFACE Threads::Threads m
    $<BUILD_INTERFACE:OpenMP::OpenMP_C> $<INSTALL_INTERFACE:${OpenMP_C_FLAGS}>)
# The codecs' libraries are found anew by gpuimg-config.cmake.
foreach(library file IN ZIP_LISTS GPUIMG_CODEC_LIBRARIES GPUIMG_CODEC_FILES)
    target_link_libraries(gpuimg_static INTERFACE $<BUILD_INTERFACE:${file}> $<INSTALL_INTERFACE:gpuimg::${library}>)
endforeach()
if(GPUIMG_HAVE_CUDA)
    target_link_libraries(gpuimg_static INTERFACE CUDA::cudart_static stdc++)
endif()
if(GPUIMG_SANITIZE)
    target_link_options(gpuimg_static INTERFACE -fsanitize=${GPUIMG_SANITIZE})
endif()
target_include_directories(gpuimg_static INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
set_target_properties(gpuimg_static PROPERTIES OUTPUT_NAME gpuimg EXPORT_NAME static LINKER_LANGUAGE C)
