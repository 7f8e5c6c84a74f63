// No demonstrations: their kernels would bring NVIDIA's runtime along, beside the fake one.
#include "bench/demos.h"

static gi_status refuse(gi_bench *bench, gi_error *err) {
    (void)bench;
    return gi_fail(err, GI_ERR_UNSUPPORTED, "not over the fake runtime");
}

#define FAKE_DEMO(name) const gi_demo gi_demo_##name = {#name, "", "", refuse};
GI_DEMOS(FAKE_DEMO)

gi_status gi_demo_use_device(int index, gi_error *err) {
    (void)index;
    return gi_fail(err, GI_ERR_DEVICE, "the runtime is a fake");
}
