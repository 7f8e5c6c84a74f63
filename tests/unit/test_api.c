// The public C API, over a fake codec and a fake backend.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cpu/backend_cpu.h"
#include "fake_backend.h"
#include "fake_codec.h"
#include "gpuimg.h"
#include "temp_dir.h"

static fake_backend cpu;

int gi_cpu_cores(void) { return 3; }

gi_status gi_backend_cpu_open(gi_backend **backend, gi_error *err) {
    (void)err;
    cpu = fake_backend_make();
    *backend = &cpu.base;
    return GI_OK;
}

static gpuimg_error error;

static void assert_reason(gpuimg_status got, gpuimg_status status, const char *part) {
    assert_int_equal(got, status);
    assert_int_equal(error.status, status);
    if (!strstr(error.text, part)) fail_msg("'%s' is not in '%s'", part, error.text);
}

static void put_image(const char *path, int fault) {
    fake_header h = {2, 1, 3, 1, fault};
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(png_signature, 8, 1, file);
    fwrite(&h, sizeof h, 1, file);
    fwrite("\x0a\x14\x1e\xff\xff\xff", 1, 6, file);
    assert_int_equal(fclose(file), 0);
}

static void processes(void **state) {
    (void)state;
    put_image("a.png", FAKE_GOOD);
    strcpy(error.text, "stale");
    assert_reason(gpuimg_process_file("gray", "a.png", "b.png", NULL, &error), GPUIMG_OK, "");
    assert_string_equal(error.text, "");
    assert_true(text_is("b.png", "<PNG 0 2x1x1>\x12\xff"));
    assert_int_equal(cpu.threads, 3);
    assert_int_equal(gpuimg_process_file("gray | threshold 100", "a.png", "a.png", "cpu", NULL), GPUIMG_OK);
    assert_true(file_is("a.png", "<PNG 0 2x1x1>\0\xff", 15));
    assert_int_equal(entry_count("."), 2);
}

static void refuses(void **state) {
    (void)state;
    put_image("a.png", FAKE_GOOD);
    put_image("bad.png", FAKE_BAD_PIXELS);
    mkdir("dir", 0777);
    assert_reason(gpuimg_process_file(NULL, "a.png", "b.png", NULL, &error), GPUIMG_ERR_USAGE, "needed");
    assert_reason(gpuimg_process_file("gray", NULL, "b.png", NULL, &error), GPUIMG_ERR_USAGE, "needed");
    assert_reason(gpuimg_process_file("gray", "a.png", NULL, NULL, &error), GPUIMG_ERR_USAGE, "needed");
    assert_reason(gpuimg_process_file("", "a.png", "b.png", NULL, &error), GPUIMG_ERR_USAGE, "");
    assert_reason(gpuimg_process_file("gray | hist", "a.png", "b.png", NULL, &error), GPUIMG_ERR_USAGE, "hist");
    assert_reason(gpuimg_process_file("gray", "a.png", "b.png", "gpu", &error), GPUIMG_ERR_USAGE, "'gpu'");
    assert_reason(gpuimg_process_file("gray", "no.png", "b.png", NULL, &error), GPUIMG_ERR_IO, "No such file");
    assert_reason(gpuimg_process_file("gray", "dir", "b.png", NULL, &error), GPUIMG_ERR_IO, "directory");
    assert_reason(gpuimg_process_file("gray", "bad.png", "b.png", NULL, &error), GPUIMG_ERR_FORMAT, "bad pixels");
    assert_reason(gpuimg_process_file("gray", "a.png", "dir", NULL, &error), GPUIMG_ERR_IO, "dir: Is a directory");
    assert_int_equal(gpuimg_process_file("gray", "no.png", "b.png", NULL, NULL), GPUIMG_ERR_IO);
    assert_int_equal(entry_count("."), 3);
}

static void names(void **state) {
    (void)state;
    assert_string_equal(gpuimg_version(), GPUIMG_VERSION);
    assert_string_equal(gpuimg_status_name(GPUIMG_OK), "ok");
    assert_string_equal(gpuimg_status_name(GPUIMG_ERR_DEVICE_MEMORY), "device memory");
    assert_string_equal(gpuimg_status_name((gpuimg_status)99), "unknown");
}

int main(void) {
    const struct CMUnitTest tests[] = {TEMP_DIR_TEST(processes), TEMP_DIR_TEST(refuses), cmocka_unit_test(names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
