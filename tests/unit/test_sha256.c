// SHA-256 against the examples of FIPS 180-2, in pieces of every length, and through an output.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/sha256.h"

static const char million_a[] = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
static const char abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
static const char nothing[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

static void assert_digest(const uint8_t digest[GI_DIGEST_BYTES], const char *hex) {
    char text[2 * GI_DIGEST_BYTES + 1];
    for (int i = 0; i < GI_DIGEST_BYTES; i++) snprintf(text + 2 * i, 3, "%02x", (unsigned)digest[i]);
    assert_string_equal(text, hex);
}

static void hash(const char *data, size_t size, size_t piece, const char *hex) {
    const gi_digester *sha256 = gi_sha256();
    uint8_t digest[GI_DIGEST_BYTES];
    void *state = malloc(sha256->state_bytes);
    sha256->begin(state);
    for (size_t at = 0; at < size; at += piece) sha256->add(state, data + at, size - at < piece ? size - at : piece);
    sha256->end(state, digest);
    free(state);
    assert_digest(digest, hex);
}

static void examples(void **state) {
    (void)state;
    if (!gi_sha256()) skip();
    enum { MILLION = 1000000 };
    char *a = malloc(MILLION);
    memset(a, 'a', MILLION);
    hash("", 0, 1, nothing);
    for (size_t piece = 1; piece <= 3; piece++) hash("abc", 3, piece, abc);
    for (size_t piece = 63; piece <= MILLION; piece = piece * 9 + 1) hash(a, MILLION, piece, million_a);
    free(a);
}

static void of_an_output(void **state) {
    (void)state;
    if (!gi_sha256()) skip();
    gi_error err;
    gi_output *output = NULL;
    uint8_t digest[GI_DIGEST_BYTES];
    assert_int_equal(gi_output_open("/dev/null", &output, &err), GI_OK);
    assert_int_equal(gi_output_hash(output, gi_sha256(), &err), GI_OK);
    gi_sink sink = gi_output_sink(output);
    assert_int_equal(sink.write(sink.context, "ab", 2, &err), GI_OK);
    assert_int_equal(sink.write(sink.context, "c", 1, &err), GI_OK);
    assert_int_equal(gi_output_commit(output, false, &err), GI_OK);
    assert_int_equal(gi_output_bytes(output), 3);
    gi_output_digest(output, digest);
    assert_digest(digest, abc);
    gi_output_close(output);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(examples), cmocka_unit_test(of_an_output)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
