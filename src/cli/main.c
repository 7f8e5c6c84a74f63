#include <stdio.h>

int main(void) {
    puts("gpuimg " GPUIMG_VERSION);
    return 0;
}
