# Interface target gpuimg_flags: what all of our own code is compiled with.
add_library(gpuimg_flags INTERFACE)
target_compile_definitions(gpuimg_flags INTERFACE _GNU_SOURCE _FILE_OFFSET_BITS=64
    GPUIMG_VERSION="${PROJECT_VERSION}")
# Exactness: no fused multiply-add but the explicit ones, so that every backend rounds alike.
target_compile_options(gpuimg_flags INTERFACE
    $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -ffp-contract=off -fno-math-errno>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall>)
if(GPUIMG_WERROR)
    target_compile_options(gpuimg_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-Werror>
        $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
endif()
if(GPUIMG_SANITIZE)
    target_compile_options(gpuimg_flags INTERFACE
        $<$<COMPILE_LANGUAGE:C>:-fsanitize=${GPUIMG_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all>)
    target_link_options(gpuimg_flags INTERFACE -fsanitize=${GPUIMG_SANITIZE})
endif()
target_include_directories(gpuimg_flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
