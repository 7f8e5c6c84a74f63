#include "cuda/marks.h"

#include "core/clock.h"

// Times are worth no failure: what goes wrong ends them, and shows where it matters.
static bool good(gi_cuda_marks *marks, cudaError_t error) {
    if (error == cudaSuccess) return true;
    cudaGetLastError();
    marks->failed = true;
    return false;
}

static bool record(gi_cuda_marks *marks, cudaEvent_t *event, cudaStream_t stream) {
    if (!*event && !good(marks, cudaEventCreateWithFlags(event, cudaEventDefault))) return false;
    return good(marks, cudaEventRecord(*event, stream));
}

void gi_cuda_marks_begin(gi_cuda_marks *marks, gi_device_work work, cudaStream_t stream) {
    if (!marks->watch || marks->failed) return;
    if (!marks->origin) {
        if (!record(marks, &marks->origin, stream)) return;
        marks->origin_ms = gi_clock_ms(); // an idle stream comes to it at once
    }
    if (marks->count == GI_CUDA_MARKS) return;
    gi_cuda_mark *mark = &marks->marks[marks->count++];
    mark->work = work;
    record(marks, &mark->begin, stream);
}

void gi_cuda_marks_end(gi_cuda_marks *marks, cudaStream_t stream) {
    if (marks->watch && !marks->failed && marks->count > 0) record(marks, &marks->marks[marks->count - 1].end, stream);
}

void gi_cuda_marks_tell(gi_cuda_marks *marks, int lane) {
    for (int i = 0; i < marks->count && marks->watch && !marks->failed; i++) {
        const gi_cuda_mark *mark = &marks->marks[i];
        float begin = 0, length = 0; // the first loses digits in hours, the second does not
        if (good(marks, cudaEventElapsedTime(&begin, marks->origin, mark->begin)) &&
            good(marks, cudaEventElapsedTime(&length, mark->begin, mark->end)))
            marks->watch->on_work(marks->watch->context,
                                  &(gi_device_span){mark->work, lane, marks->origin_ms + (double)begin,
                                                    marks->origin_ms + (double)begin + (double)length});
    }
    marks->count = 0;
}

static void event_free(cudaEvent_t event) {
    if (event) cudaEventDestroy(event);
}

void gi_cuda_marks_free(gi_cuda_marks *marks) {
    for (int i = 0; i < GI_CUDA_MARKS; i++) {
        event_free(marks->marks[i].begin);
        event_free(marks->marks[i].end);
    }
    event_free(marks->origin);
    *marks = (gi_cuda_marks){.watch = NULL};
}
