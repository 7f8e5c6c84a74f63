# The libraries of third_party/README.md.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS C)

find_path(GPUIMG_STB_INCLUDE stb_image.h
    HINTS ${GPUIMG_STB_DIR} PATHS /usr/include/stb PATH_SUFFIXES stb)
find_path(GPUIMG_STB_WRITE_INCLUDE stb_image_write.h
    HINTS ${GPUIMG_STB_DIR} PATHS /usr/include/stb PATH_SUFFIXES stb)
if(NOT GPUIMG_STB_INCLUDE OR NOT GPUIMG_STB_WRITE_INCLUDE)
    message(FATAL_ERROR "stb_image.h and stb_image_write.h not found: install libstb-dev, or give -DGPUIMG_STB_DIR=FOLDER")
endif()

# The version stands in the first line: "/* stb_image - v2.27 - public domain ...".
function(gpuimg_stb_version header result)
    file(STRINGS ${header} line LIMIT_COUNT 1)
    set(version unknown)
    if(line MATCHES "- v([0-9.]+)")
        set(version ${CMAKE_MATCH_1})
    endif()
    set(${result} ${version} PARENT_SCOPE)
endfunction()
gpuimg_stb_version(${GPUIMG_STB_INCLUDE}/stb_image.h GPUIMG_STB_VERSION)
gpuimg_stb_version(${GPUIMG_STB_WRITE_INCLUDE}/stb_image_write.h GPUIMG_STB_WRITE_VERSION)
message(STATUS "stb_image ${GPUIMG_STB_VERSION}, stb_image_write ${GPUIMG_STB_WRITE_VERSION}")

# What the preprocessor makes of `text` behind the include of `headers`; empty when there are no such headers.
function(gpuimg_preprocess headers folder text result)
    set(source ${PROJECT_BINARY_DIR}/cmake/preprocessed.c)
    list(TRANSFORM headers REPLACE "(.+)" "#include <\\1>\n")
    list(JOIN headers "" includes)
    file(WRITE ${source} "${includes}gpuimg_says ${text}\n")
    execute_process(COMMAND ${CMAKE_C_COMPILER} -E -P -isystem ${folder} ${source} OUTPUT_VARIABLE output ERROR_QUIET)
    string(REGEX MATCH "gpuimg_says ([^\n]*)" line "${output}")
    string(REGEX REPLACE "[ \"]" "" value "${CMAKE_MATCH_1}")
    set(${result} "${value}" PARENT_SCOPE)
endfunction()

# Optional codecs: GPUIMG_ISAL, GPUIMG_ZLIB, GPUIMG_JPEG = AUTO (where found), ON or OFF. What is found, gpuimg_codecs
# links, and our sources see as GPUIMG_HAVE_NAME. For those who link libgpuimg.a, GPUIMG_CODEC_LIBRARIES lists the names
# that -l takes, GPUIMG_CODEC_FILES the libraries themselves.
add_library(gpuimg_codecs INTERFACE)
set(GPUIMG_CODEC_LIBRARIES "")
set(GPUIMG_CODEC_FILES "")

# gpuimg_codec(NAME package library headers version): looks for it, says what was found, links it. `version` is an
# expression of the headers' macros; the first header is the one that is looked for.
function(gpuimg_codec name package library headers version)
    set(GPUIMG_${name} AUTO CACHE STRING "Use ${package}: AUTO (when found), ON or OFF")
    set_property(CACHE GPUIMG_${name} PROPERTY STRINGS AUTO ON OFF)
    set(GPUIMG_HAVE_${name} OFF PARENT_SCOPE)
    set(GPUIMG_${name}_VERSION "" PARENT_SCOPE)
    if(NOT GPUIMG_${name})
        return()
    endif()
    list(GET headers 0 header)
    find_path(GPUIMG_${name}_INCLUDE ${header})
    find_library(GPUIMG_${name}_LIBRARY ${library})
    set(found "")
    if(GPUIMG_${name}_INCLUDE AND GPUIMG_${name}_LIBRARY)
        gpuimg_preprocess("stdio.h;${headers}" ${GPUIMG_${name}_INCLUDE} "${version}" found)
    endif()
    # A macro that is not there stays as it is: another library under the same name.
    if(NOT found MATCHES "^[0-9]")
        if(NOT GPUIMG_${name} STREQUAL AUTO)
            message(FATAL_ERROR "${header} or lib${library} not found: install ${package}, or give -DGPUIMG_${name}=OFF")
        endif()
        message(STATUS "${package} not found: the codecs do without it")
        return()
    endif()
    set(GPUIMG_HAVE_${name} ON PARENT_SCOPE)
    set(GPUIMG_${name}_VERSION ${found} PARENT_SCOPE)
    set(GPUIMG_CODEC_LIBRARIES ${GPUIMG_CODEC_LIBRARIES} ${library} PARENT_SCOPE)
    set(GPUIMG_CODEC_FILES ${GPUIMG_CODEC_FILES} ${GPUIMG_${name}_LIBRARY} PARENT_SCOPE)
    target_include_directories(gpuimg_codecs SYSTEM INTERFACE ${GPUIMG_${name}_INCLUDE})
    target_link_libraries(gpuimg_codecs INTERFACE ${GPUIMG_${name}_LIBRARY})
    target_compile_definitions(gpuimg_codecs INTERFACE GPUIMG_HAVE_${name})
endfunction()
gpuimg_codec(ISAL libisal-dev isal "isa-l/igzip_lib.h;isa-l.h"
    "ISAL_MAJOR_VERSION.ISAL_MINOR_VERSION.ISAL_PATCH_VERSION")
gpuimg_codec(ZLIB zlib1g-dev z zlib.h ZLIB_VERSION)
# libjpeg-turbo, whatever package of its the distribution means by that.
gpuimg_codec(JPEG libjpeg-dev jpeg jpeglib.h LIBJPEG_TURBO_VERSION)
message(STATUS "Codecs: ISA-L ${GPUIMG_HAVE_ISAL}, zlib ${GPUIMG_HAVE_ZLIB}, libjpeg-turbo ${GPUIMG_HAVE_JPEG}")

# Optional, for the command line alone: SHA-256 of outputs in manifests.
set(GPUIMG_NETTLE AUTO CACHE STRING "Use nettle-dev: AUTO (when found), ON or OFF")
set_property(CACHE GPUIMG_NETTLE PROPERTY STRINGS AUTO ON OFF)
add_library(gpuimg_hashes INTERFACE)
set(GPUIMG_NETTLE_VERSION "")
if(GPUIMG_NETTLE)
    find_path(GPUIMG_NETTLE_INCLUDE nettle/sha2.h)
    find_library(GPUIMG_NETTLE_LIBRARY nettle)
    if(GPUIMG_NETTLE_INCLUDE AND GPUIMG_NETTLE_LIBRARY)
        gpuimg_preprocess(nettle/version.h ${GPUIMG_NETTLE_INCLUDE} "NETTLE_VERSION_MAJOR.NETTLE_VERSION_MINOR"
            GPUIMG_NETTLE_VERSION)
    endif()
    if(GPUIMG_NETTLE_VERSION MATCHES "^[0-9]")
        target_include_directories(gpuimg_hashes SYSTEM INTERFACE ${GPUIMG_NETTLE_INCLUDE})
        target_link_libraries(gpuimg_hashes INTERFACE ${GPUIMG_NETTLE_LIBRARY})
        target_compile_definitions(gpuimg_hashes INTERFACE GPUIMG_NETTLE_VERSION="${GPUIMG_NETTLE_VERSION}")
    elseif(NOT GPUIMG_NETTLE STREQUAL AUTO)
        message(FATAL_ERROR "nettle/sha2.h or libnettle not found: install nettle-dev, or give -DGPUIMG_NETTLE=OFF")
    endif()
endif()
message(STATUS "SHA-256: nettle ${GPUIMG_NETTLE_VERSION}")
