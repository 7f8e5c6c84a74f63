#include "cuda/tables.h"

#include <string.h>

#include "cuda/cuda_status.h"

enum { MOST_CURVES = 4 };

// The curves of the operation that the kernels look at.
static int curves_of(gi_point *point, gi_curve *curves[MOST_CURVES]) {
    int count = 0;
    for (int c = 0; c < gi_colour_channels(point->shape.channels); c++) curves[count++] = &point->before[c];
    if (point->mix != GI_MIX_NONE) curves[count++] = &point->after;
    return count;
}

static gi_status stage_curves(gi_cuda_tables *tables, gi_point *point, cudaStream_t stream, gi_error *err) {
    gi_curve *curves[MOST_CURVES];
    const int count = curves_of(point, curves);
    const size_t table_bytes = ((size_t)gi_sample_max(point->shape.sample) + 1) * sizeof(uint16_t);
    size_t used = 0;
    for (int i = 0; i < count; i++) used += curves[i]->kind == GI_CURVE_TABLE ? table_bytes : 0;
    if (used == 0) return GI_OK;

    gi_status status = gi_cuda_check(cudaEventSynchronize(tables->taken), "waiting for earlier tables", err);
    if (status == GI_OK) status = gi_cuda_buffer_reserve(&tables->staging, used, GI_PINNED, stream, err);
    if (status == GI_OK) status = gi_cuda_buffer_reserve(&tables->curves, used, GI_DEVICE, stream, err);
    if (status != GI_OK) return status;
    size_t offset = 0;
    for (int i = 0; i < count; i++) {
        if (curves[i]->kind != GI_CURVE_TABLE) continue;
        memcpy((char *)tables->staging.data + offset, curves[i]->table, table_bytes);
        curves[i]->table = (uint16_t *)((char *)tables->curves.data + offset);
        offset += table_bytes;
    }
    status =
        gi_cuda_check(cudaMemcpyAsync(tables->curves.data, tables->staging.data, used, cudaMemcpyHostToDevice, stream),
                      "uploading tables", err);
    if (status == GI_OK) status = gi_cuda_check(cudaEventRecord(tables->taken, stream), "uploading tables", err);
    return status;
}

// Where the five tables lie within one device buffer of `levels` levels.
static gi_linear_tables linear_layout(void *data, size_t levels) {
    uint32_t *words = data;
    gi_linear_tables layout = {words, words + levels, words + 2 * levels, words + 3 * levels,
                               (const uint16_t *)(words + 4 * levels)};
    return layout;
}

// The host's tables live as long as the process, so nothing needs staging.
static gi_status stage_linear(gi_cuda_tables *tables, gi_sample sample, cudaStream_t stream, gi_linear_tables *out,
                              gi_error *err) {
    const size_t levels = (size_t)gi_sample_max(sample) + 1;
    const size_t table_bytes = levels * sizeof(uint32_t), coarse_bytes = GI_LINEAR_COARSE_COUNT * sizeof(uint16_t);
    gi_cuda_buffer *buffer = &tables->linear[sample];
    gi_status status = gi_cuda_buffer_reserve(buffer, 4 * table_bytes + coarse_bytes, GI_DEVICE, stream, err);
    if (status != GI_OK) return status;
    *out = linear_layout(buffer->data, levels);
    if (tables->linear_ready[sample]) return GI_OK;

    const gi_linear_tables *host = gi_linear_tables_get(sample);
    if (!host) return gi_fail(err, GI_ERR_MEMORY, "no memory for the tables of linear light");
    const void *const from[] = {host->red, host->green, host->blue, host->threshold, host->coarse};
    char *to = buffer->data;
    for (int i = 0; i < 5 && status == GI_OK; i++) {
        size_t bytes = i < 4 ? table_bytes : coarse_bytes;
        status = gi_cuda_check(cudaMemcpyAsync(to, from[i], bytes, cudaMemcpyHostToDevice, stream),
                               "uploading the tables of linear light", err);
        to += bytes;
    }
    tables->linear_ready[sample] = status == GI_OK;
    return status;
}

gi_status gi_cuda_tables_stage(gi_cuda_tables *tables, const gi_point *point, cudaStream_t stream, gi_device_point *out,
                               gi_error *err) {
    memset(out, 0, sizeof *out);
    out->point = *point;
    gi_status status = stage_curves(tables, &out->point, stream, err);
    if (status == GI_OK && point->mix == GI_MIX_LINEAR)
        status = stage_linear(tables, point->shape.sample, stream, &out->linear, err);
    return status;
}

void gi_cuda_tables_free(gi_cuda_tables *tables) {
    gi_cuda_buffer_free(&tables->staging, GI_PINNED);
    gi_cuda_buffer_free(&tables->curves, GI_DEVICE);
    for (int i = 0; i < 2; i++) {
        gi_cuda_buffer_free(&tables->linear[i], GI_DEVICE);
        tables->linear_ready[i] = false;
    }
    if (tables->taken) cudaEventDestroy(tables->taken);
    tables->taken = NULL;
}
