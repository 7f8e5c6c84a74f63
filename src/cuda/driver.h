// The driver's version, without a word to a device.
#ifndef GI_CUDA_DRIVER_H
#define GI_CUDA_DRIVER_H

// 13000 is 13.0; 0: no driver is installed. Takes a few milliseconds, where cudaDriverGetVersion starts the driver, for
// a quarter of a second or more.
int gi_cuda_driver_version(void);

#endif
