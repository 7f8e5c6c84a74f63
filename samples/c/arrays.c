/* A matrix product, a sum and running sums, all in memory.
 *
 *     cc arrays.c $(pkg-config --cflags --libs gpuimg) -o arrays
 *     ./arrays */
#include <gpuimg.h>
#include <stdio.h>

int main(void) {
    float a[2][3] = {{1, 2, 3}, {4, 5, 6}}, b[3][2] = {{1, 0}, {0, 1}, {1, 1}}, c[2][2];
    unsigned char bytes[5] = {1, 2, 3, 250, 255};
    gpuimg_matrix left = {0}, right = {0}, product = {0};
    gpuimg_context *context = NULL;
    gpuimg_error error = {0};
    int64_t sums[5];
    double sum;
    int i;
    left.data = a[0], left.rows = 2, left.columns = 3;
    right.data = b[0], right.rows = 3, right.columns = 2;
    product.data = c[0], product.rows = 2, product.columns = 2;
    if (gpuimg_context_open("auto", 0, &context, &error) ||
        gpuimg_matmul(context, &left, &right, &product, NULL, &error) ||
        gpuimg_reduce_f32(context, GPUIMG_SUM, c[0], 4, NULL, &sum, &error) ||
        gpuimg_scan_u8(context, GPUIMG_SUM, 0, bytes, sums, 5, NULL, &error)) {
        fprintf(stderr, "%s (%s)\n", error.text, gpuimg_status_name(error.status));
    } else {
        printf("%g %g\n%g %g\nsum %g\nrunning sums", c[0][0], c[0][1], c[1][0], c[1][1], sum);
        for (i = 0; i < 5; i++) printf(" %ld", (long)sums[i]);
        printf("\n");
    }
    gpuimg_context_close(context);
    return error.status != GPUIMG_OK;
}
