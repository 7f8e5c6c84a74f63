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
