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
