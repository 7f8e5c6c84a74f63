// Matrix product by NVIDIA's cuBLAS, the measure of our own.
//
// Formula   cuBLAS keeps matrices by columns. A row-major matrix is its own transpose by columns, so that C' = B' A'
//           gives C row-major: the factors change places, nothing is transposed.
// Library   looked for when it is asked for, not linked: gpuimg works without it. Its header is not needed either; the
//           few declarations below are those of version 12 and 13, whose interface ("_v2") has not changed since 4.0.
// Exact     float32 (CUBLAS_DEFAULT_MATH, which leaves sgemm in float32) or tf32 (CUBLAS_TF32_TENSOR_OP_MATH), the
//           error bounds of matmul.h. The same bits every run, as the work space is ours and the handle has one stream
//           (cuBLAS documentation, "Results Reproducibility").
#include <climits>
#include <dlfcn.h>
#include <new>

#include "kernels/matmul.cuh"

namespace {

using namespace gi;

using handle = struct cublasContext *;
enum { SUCCESS = 0, OP_N = 0, MATH_DEFAULT = 0, MATH_TF32 = 3 }; // cublasStatus_t, cublasOperation_t, cublasMath_t

// What cuBLAS wants on Hopper (documentation of cublasSetWorkspace).
constexpr size_t WORKSPACE_BYTES = (size_t)32 << 20;

const char *const NAMES[] = {"libcublas.so.13", "libcublas.so.12"};

} // namespace

struct gi_cublas {
    void *library;
    handle context;
    int version;
    int (*create)(handle *);
    int (*destroy)(handle);
    int (*get_version)(handle, int *);
    int (*set_stream)(handle, cudaStream_t);
    int (*set_workspace)(handle, void *, size_t);
    int (*set_math)(handle, int);
    int (*sgemm)(handle, int, int, int, int, int, const float *, const float *, int, const float *, int, const float *,
                 float *, int);
};

namespace {

template <typename Function> bool find(void *library, const char *name, Function *function) {
    *function = (Function)dlsym(library, name);
    return *function != nullptr;
}

bool find_all(gi_cublas *c) {
    return find(c->library, "cublasCreate_v2", &c->create) && find(c->library, "cublasDestroy_v2", &c->destroy) &&
           find(c->library, "cublasGetVersion_v2", &c->get_version) &&
           find(c->library, "cublasSetStream_v2", &c->set_stream) &&
           find(c->library, "cublasSetWorkspace_v2", &c->set_workspace) &&
           find(c->library, "cublasSetMathMode", &c->set_math) && find(c->library, "cublasSgemm_v2", &c->sgemm);
}

gi_status load(gi_cublas *c, gi_error *err) {
    for (const char *name : NAMES)
        if (!c->library) c->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!c->library) {
        const char *reason = dlerror();
        return gi_fail(err, GI_ERR_DEVICE, "cuBLAS (%s or %s) was not found: %s", NAMES[0], NAMES[1],
                       reason ? reason : "no reason given");
    }
    if (!find_all(c)) return gi_fail(err, GI_ERR_DEVICE, "cuBLAS lacks a function that gpuimg calls: %s", dlerror());
    const int error = c->create(&c->context);
    if (error != SUCCESS) return gi_fail(err, GI_ERR_DEVICE, "cuBLAS does not start: its status is %d", error);
    c->get_version(c->context, &c->version);
    return GI_OK;
}

} // namespace

gi_status gi_cublas_open(gi_cublas **out, gi_error *err) {
    *out = nullptr;
    gi_cublas *c = new (std::nothrow) gi_cublas();
    if (!c) return gi_fail(err, GI_ERR_MEMORY, "no memory for cuBLAS");
    const gi_status status = load(c, err);
    if (status == GI_OK)
        *out = c;
    else
        gi_cublas_close(c);
    return status;
}

void gi_cublas_close(gi_cublas *cublas) {
    if (!cublas) return;
    if (cublas->context) cublas->destroy(cublas->context);
    if (cublas->library) dlclose(cublas->library);
    delete cublas;
}

int gi_cublas_version(const gi_cublas *cublas) { return cublas->version; }

size_t gi::matmul_cublas_scratch() { return WORKSPACE_BYTES; }

gi_status gi::matmul_cublas(const gi_matmul_launch &job, bool tf32, gi_error *err) {
    if (!job.cublas) return gi_fail(err, GI_ERR_USAGE, "matmul: cuBLAS has not been opened");
    gi_cublas &c = *job.cublas;
    if (job.a_stride > INT_MAX || job.b_stride > INT_MAX || job.c_stride > INT_MAX)
        return gi_fail(err, GI_ERR_LIMIT, "matmul: cuBLAS takes strides of at most 2^31 - 1");
    const int m = (int)job.m, k = (int)job.k, n = (int)job.n;
    const int a_stride = (int)job.a_stride, b_stride = (int)job.b_stride, c_stride = (int)job.c_stride;
    const float one = 1, zero = 0;
    int error = c.set_stream(c.context, (cudaStream_t)job.stream); // which forgets the work space
    if (error == SUCCESS) error = c.set_workspace(c.context, job.scratch, WORKSPACE_BYTES);
    if (error == SUCCESS) error = c.set_math(c.context, tf32 ? MATH_TF32 : MATH_DEFAULT);
    if (error == SUCCESS)
        error = c.sgemm(c.context, OP_N, OP_N, n, m, k, &one, job.b, b_stride, job.a, a_stride, &zero, job.c, c_stride);
    if (error == SUCCESS) return GI_OK;
    return gi_fail(err, GI_ERR_DEVICE, "cuBLAS: matrix product: its status is %d", error);
}
