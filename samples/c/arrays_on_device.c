/* A matrix product and the sum of its elements, on arrays that are on the GPU already, as work of a CUDA stream.
 *
 *     cc arrays_on_device.c $(pkg-config --cflags --libs gpuimg) -I/usr/local/cuda/include \
 *         -L/usr/local/cuda/lib64 -lcudart -o arrays_on_device
 *     ./arrays_on_device */
#include <cuda_runtime_api.h>
#include <gpuimg.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 512 };

int main(void) {
    const size_t bytes = sizeof(float) * N * N;
    float *host = malloc(2 * bytes), *device = NULL; /* of A and B; of A, B and C */
    gpuimg_context *context = NULL;
    gpuimg_error error = {0};
    cudaStream_t stream = NULL;
    double sum = 0;
    if (!host) return 1;
    for (int i = 0; i < N * N; i++) {
        host[i] = i / N == i % N ? 2.0F : 0.0F; /* A: twice the identity */
        host[N * N + i] = (float)(i / N + i % N);
    }
    if (gpuimg_context_open("cuda", 0, &context, &error)) {
        fprintf(stderr, "%s\n", error.text);
        free(host);
        return 1;
    }
    if (cudaMalloc((void **)&device, 3 * bytes) == cudaSuccess && cudaStreamCreate(&stream) == cudaSuccess &&
        cudaMemcpyAsync(device, host, 2 * bytes, cudaMemcpyHostToDevice, stream) == cudaSuccess) {
        const gpuimg_matrix a = {device, N, N, 0}, b = {device + N * N, N, N, 0}, c = {device + 2 * N * N, N, N, 0};
        /* The product is only enqueued; the reduction waits, for its result is on the host. */
        if (gpuimg_matmul_device(context, &a, &b, &c, NULL, stream, &error) ||
            gpuimg_reduce_f32_device(context, GPUIMG_SUM, c.data, (size_t)N * N, NULL, stream, &sum, &error))
            fprintf(stderr, "%s\n", error.text);
        else
            printf("sum of the product's elements %.0f, expected %.0f\n", sum, 2.0 * N * N * (N - 1));
    }
    gpuimg_context_close(context);
    cudaStreamDestroy(stream);
    cudaFree(device);
    free(host);
    return sum != 2.0 * N * N * (N - 1);
}
