# Toolchain of the preset arm64: 64-bit ARM by Debian's cross compiler (gcc-aarch64-linux-gnu), the programs run by QEMU
# where that is installed (qemu-user-static).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
if(NOT CMAKE_C_COMPILER)
    set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
endif()
set(GPUIMG_LD aarch64-linux-gnu-ld.bfd CACHE STRING "")
set(GPUIMG_OBJCOPY aarch64-linux-gnu-objcopy CACHE STRING "")
# This machine's libraries are not for it; headers of stb are.
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu /usr/lib/gcc-cross/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
find_program(GPUIMG_QEMU NAMES qemu-aarch64-static qemu-aarch64)
if(GPUIMG_QEMU)
    set(CMAKE_CROSSCOMPILING_EMULATOR ${GPUIMG_QEMU} -L /usr/aarch64-linux-gnu)
endif()
