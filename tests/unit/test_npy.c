// .npy: headers good and hostile, byte orders, Fortran order, what is written.
#include "codec/npy.h"
#include "codec_files.h"

#include <stdio.h>

typedef struct file {
    uint8_t bytes[GI_NPY_HEADER_BYTES];
    size_t size;
} file;

// Prefix and the text as they stand.
static file file_of(int version, const char *text) {
    file f = {.size = 0};
    size_t length = strlen(text), prefix = version == 1 ? 10 : 12;
    memcpy(f.bytes, "\x93NUMPY", 6);
    f.bytes[6] = (uint8_t)version;
    for (size_t i = 8; i < prefix; i++) f.bytes[i] = (uint8_t)(length >> 8 * (i - 8));
    memcpy(f.bytes + prefix, text, length);
    f.size = prefix + length;
    return f;
}

// A copy of exactly that size, so that a sanitizer sees every byte read past it.
static gi_status parse(const uint8_t *data, size_t size, gi_npy_header *header, gi_error *err) {
    uint8_t *exact = malloc(size ? size : 1);
    assert_non_null(exact);
    memcpy(exact, data, size);
    gi_status status = gi_npy_header_parse((gi_bytes){exact, size}, header, err);
    free(exact);
    return status;
}

static gi_status parse_text(const char *text, gi_npy_header *header, gi_error *err) {
    file f = file_of(1, text);
    return parse(f.bytes, f.size, header, err);
}

static void every_version_and_type(void **state) {
    (void)state;
    static const struct {
        const char *type;
        gi_element element;
        bool swapped;
    } types[] = {{"<f4", GI_ELEMENT_F32, false}, {">f4", GI_ELEMENT_F32, true},  {"<f8", GI_ELEMENT_F64, false},
                 {">f8", GI_ELEMENT_F64, true},  {"<i4", GI_ELEMENT_I32, false}, {">i4", GI_ELEMENT_I32, true},
                 {"<i8", GI_ELEMENT_I64, false}, {">i8", GI_ELEMENT_I64, true},  {"|u1", GI_ELEMENT_U8, false},
                 {">u1", GI_ELEMENT_U8, false},  {"=f8", GI_ELEMENT_F64, false}};
    for (int version = 1; version <= 3; version++)
        for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
            char text[200];
            gi_npy_header header;
            snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (3, 4, 5), }   \n",
                     types[i].type);
            file f = file_of(version, text);
            assert_int_equal(parse(f.bytes, f.size, &header, NULL), GI_OK);
            assert_int_equal(header.array.element, types[i].element);
            assert_int_equal(header.swapped, types[i].swapped);
            assert_false(header.fortran);
            assert_int_equal(header.array.dimensions, 3);
            assert_int_equal(header.array.count, 60);
            assert_int_equal(header.data_bytes, 60 * gi_element_bytes(types[i].element));
            assert_int_equal(header.header_bytes, f.size);
        }
}

static void shapes_and_manners_of_writing(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int dimensions;
        size_t count;
    } good[] = {{"{'descr':'<f4','fortran_order':True,'shape':()}", 0, 1},
                {"{\"shape\": (7,), \"descr\": \"<f4\", \"fortran_order\": True}\n", 1, 7},
                {" { 'fortran_order' : True , 'shape' : ( 2 , 3 ) , 'descr' : '<f4' , } \t\r\n", 2, 6},
                {"{'descr': '<f4', 'fortran_order': True, 'shape': (10L, 2L)}", 2, 20},
                {"{'descr': '<f4', 'fortran_order': True, 'shape': (0, 9000000000)}", 2, 0},
                {"{'descr': '<f4', 'fortran_order': True, 'shape': (2305843009213693951,)}", 1, 2305843009213693951}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        gi_npy_header header;
        gi_error err;
        if (parse_text(good[i].text, &header, &err) != GI_OK) fail_msg("%s: %s", good[i].text, err.text);
        assert_true(header.fortran);
        assert_int_equal(header.array.dimensions, good[i].dimensions);
        assert_int_equal(header.array.count, good[i].count);
    }
}

#define HEAD "{'descr': '<f4', 'fortran_order': False, "

static void hostile_texts(void **state) {
    (void)state;
    static const struct {
        const char *text;
        gi_status status;
        const char *reason;
    } bad[] = {
        {HEAD "'shape': (-1,)}", GI_ERR_FORMAT, "negative"},
        {HEAD "'shape': (9223372036854775808,)}", GI_ERR_LIMIT, "length that no memory"},
        {HEAD "'shape': (99999999999999999999999999999,)}", GI_ERR_LIMIT, "length that no memory"},
        {HEAD "'shape': (2305843009213693952,)}", GI_ERR_LIMIT, "larger than any memory"},
        {HEAD "'shape': (4294967296, 4294967296)}", GI_ERR_LIMIT, "larger than any memory"},
        {HEAD "'shape': (0, 4294967296, 4294967296)}", GI_ERR_LIMIT, "larger than any memory"},
        {HEAD "'shape': (3)}", GI_ERR_FORMAT, "not a tuple"},
        {HEAD "'shape': (3 4)}", GI_ERR_FORMAT, "comma"},
        {HEAD "'shape': (3,,)}", GI_ERR_FORMAT, "a length is missing"},
        {HEAD "'shape': (,)}", GI_ERR_FORMAT, "a length is missing"},
        {HEAD "'shape': (1.5,)}", GI_ERR_FORMAT, "comma"},
        {HEAD "'shape': (0x10,)}", GI_ERR_FORMAT, "comma"},
        {HEAD "'shape': (True,)}", GI_ERR_FORMAT, "a length is missing"},
        {HEAD "'shape': [3]}", GI_ERR_FORMAT, "tuple"},
        {HEAD "'shape': (3,", GI_ERR_FORMAT, "length"},
        {HEAD "'shape': (__import__('os').abort(),)}", GI_ERR_FORMAT, "a length is missing"},
        {HEAD "'shape': (3,)} x", GI_ERR_FORMAT, "behind the dictionary"},
        {HEAD "'shape': (3,), 'shape': (4,)}", GI_ERR_FORMAT, "repeated key 'shape'"},
        {HEAD "'shape': (3,), 'more': 1}", GI_ERR_FORMAT, "unknown key 'more'"},
        {HEAD "'shape': (3,) 'more': 1}", GI_ERR_FORMAT, "comma"},
        {HEAD "}", GI_ERR_FORMAT, "'shape' is missing"},
        {"{'descr': '<f4', 'shape': (3,)}", GI_ERR_FORMAT, "'fortran_order' is missing"},
        {"{'fortran_order': False, 'shape': (3,)}", GI_ERR_FORMAT, "'descr' is missing"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (3,)}", GI_ERR_UNSUPPORTED, "objects"},
        {"{'descr': '<U5', 'fortran_order': False, 'shape': (3,)}", GI_ERR_UNSUPPORTED, "'<U5'"},
        {"{'descr': '<f2', 'fortran_order': False, 'shape': (3,)}", GI_ERR_UNSUPPORTED, "'<f2'"},
        {"{'descr': '|f4', 'fortran_order': False, 'shape': (3,)}", GI_ERR_UNSUPPORTED, "'|f4'"},
        {"{'descr': 'float32', 'fortran_order': False, 'shape': (3,)}", GI_ERR_UNSUPPORTED, "'float32'"},
        {"{'descr': '', 'fortran_order': False, 'shape': (3,)}", GI_ERR_UNSUPPORTED, "type ''"},
        {"{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (3,)}", GI_ERR_UNSUPPORTED, "fields"},
        {"{'descr': '<f\\x34', 'fortran_order': False, 'shape': (3,)}", GI_ERR_FORMAT, "end of a quoted"},
        {"{'descr': '<f4, 'fortran_order': False, 'shape': (3,)}", GI_ERR_UNSUPPORTED, "type"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (3,)}", GI_ERR_FORMAT, "True or False"},
        {"{'descr': '<f4', 'fortran_order': false, 'shape': (3,)}", GI_ERR_FORMAT, "True or False"},
        {"('descr', '<f4')", GI_ERR_FORMAT, "dictionary"},
        {"", GI_ERR_FORMAT, "ends in its header"},
        {"  ", GI_ERR_FORMAT, "dictionary"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        gi_npy_header header;
        gi_error err = {.status = GI_OK};
        gi_status status = parse_text(bad[i].text, &header, &err);
        if (status != bad[i].status || !strstr(err.text, bad[i].reason))
            fail_msg("%s: status %d, %s", bad[i].text, status, err.text);
    }
}

static void hostile_prefixes(void **state) {
    (void)state;
    gi_npy_header header;
    file f = file_of(2, HEAD "'shape': (3,)}");
    for (size_t size = 0; size < f.size; size++) assert_int_equal(parse(f.bytes, size, &header, NULL), GI_ERR_FORMAT);
    for (int version = 0; version < 256; version++) {
        f.bytes[6] = (uint8_t)version;
        if (version < 1 || version > 3) assert_int_equal(parse(f.bytes, f.size, &header, NULL), GI_ERR_UNSUPPORTED);
    }
    f = file_of(2, HEAD "'shape': (3,)}");
    f.bytes[7] = 1;
    assert_int_equal(parse(f.bytes, f.size, &header, NULL), GI_ERR_UNSUPPORTED);
    f.bytes[7] = 0;
    memset(f.bytes + 8, 0xFF, 4);
    assert_int_equal(parse(f.bytes, f.size, &header, NULL), GI_ERR_LIMIT);
}

static void many_dimensions(void **state) {
    (void)state;
    for (int dimensions = 63; dimensions <= 66; dimensions++) {
        char text[600] = HEAD "'shape': (";
        gi_npy_header header;
        for (int i = 0; i < dimensions; i++) strcat(text, "1,");
        strcat(text, ")}");
        assert_int_equal(parse_text(text, &header, NULL), dimensions <= GI_MAX_DIMENSIONS ? GI_OK : GI_ERR_LIMIT);
    }
}

// The value of every element tells its indices, so that any wrong place shows.
static void check_fortran(int dimensions, const size_t *shape, gi_element element) {
    gi_npy_header header = {.fortran = true, .array = {.element = element, .dimensions = dimensions}};
    memcpy(header.array.shape, shape, (size_t)dimensions * sizeof *shape);
    assert_int_equal(gi_array_measure(&header.array, &header.data_bytes, NULL), GI_OK);
    size_t bytes = gi_element_bytes(element), count = header.array.count;
    uint8_t *data = malloc(header.data_bytes + 1);
    assert_non_null(data);
    for (size_t to = 0; to < count; to++) { // `to` in C order
        size_t from = 0, rest = to, stride = count;
        for (int i = dimensions - 1; i >= 0; i--) {
            stride /= shape[i];
            from += rest % shape[i] * stride;
            rest /= shape[i];
        }
        uint64_t value = to * 2654435761U;
        memcpy(data + from * bytes, &value, bytes);
    }
    void *turned = data;
    assert_int_equal(gi_npy_unpack(&header, &turned, NULL), GI_OK);
    for (size_t to = 0; to < count; to++) {
        uint64_t value = to * 2654435761U;
        assert_memory_equal((uint8_t *)turned + to * bytes, &value, bytes);
    }
    free(turned);
}

static void fortran_order(void **state) {
    (void)state;
    static const size_t shapes[][5] = {{1, 1, 1, 1, 1}, {3, 5, 1, 1, 1},   {33, 65, 1, 1, 1}, {100, 1, 7, 1, 1},
                                       {4, 3, 2, 5, 1}, {31, 2, 3, 4, 40}, {2, 3, 5, 7, 11}};
    static const gi_element elements[] = {GI_ELEMENT_U8, GI_ELEMENT_F32, GI_ELEMENT_I64};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (int dimensions = 1; dimensions <= 5; dimensions++)
            for (size_t e = 0; e < 3; e++) check_fortran(dimensions, shapes[i], elements[e]);
}

// A signalling NaN keeps its payload.
static void byte_order(void **state) {
    (void)state;
    gi_npy_header header = {.swapped = true, .array = {.element = GI_ELEMENT_F32, .dimensions = 1, .shape = {2}}};
    assert_int_equal(gi_array_measure(&header.array, &header.data_bytes, NULL), GI_OK);
    uint8_t words[] = {1, 2, 3, 4, 0x7F, 0x80, 0x12, 0x34};
    void *data = words;
    assert_int_equal(gi_npy_unpack(&header, &data, NULL), GI_OK);
    assert_memory_equal(words, ((uint8_t[]){4, 3, 2, 1, 0x34, 0x12, 0x80, 0x7F}), 8);
    header.array = (gi_array){.element = GI_ELEMENT_I64, .dimensions = 1, .shape = {1}};
    assert_int_equal(gi_array_measure(&header.array, &header.data_bytes, NULL), GI_OK);
    assert_int_equal(gi_npy_unpack(&header, &data, NULL), GI_OK);
    assert_memory_equal(words, ((uint8_t[]){0x7F, 0x80, 0x12, 0x34, 1, 2, 3, 4}), 8);
}

static gi_status collect(void *context, const void *data, size_t size, gi_error *err) {
    file *f = context;
    (void)err;
    assert_true(size <= sizeof f->bytes - f->size);
    memcpy(f->bytes + f->size, data, size);
    f->size += size;
    return GI_OK;
}

static void what_is_written_is_read(void **state) {
    (void)state;
    static const uint8_t content[] = "0123456789abcdef0123456789abcdef0123456789abcdef";
    for (int element = 0; element < GI_ELEMENT_COUNT; element++)
        for (int dimensions = 0; dimensions <= GI_MAX_DIMENSIONS; dimensions++) {
            gi_array array = {.data = (void *)(uintptr_t)content, .element = (gi_element)element};
            array.dimensions = dimensions;
            for (int i = 0; i < dimensions; i++) array.shape[i] = i == 1 ? 3 : i == 2 ? 2 : 1;
            size_t bytes = 0;
            file f = {.size = 0};
            gi_npy_header header;
            assert_int_equal(gi_array_measure(&array, &bytes, NULL), GI_OK);
            assert_int_equal(gi_npy_write(&array, &(gi_sink){collect, &f}, NULL), GI_OK);
            assert_int_equal(gi_npy_header_parse((gi_bytes){f.bytes, f.size}, &header, NULL), GI_OK);
            assert_int_equal(header.header_bytes % 64, 0);
            assert_int_equal(header.array.element, element);
            assert_int_equal(header.array.dimensions, dimensions);
            assert_memory_equal(header.array.shape, array.shape, sizeof array.shape);
            assert_false(header.swapped || header.fortran);
            assert_int_equal(f.size, header.header_bytes + bytes);
            assert_memory_equal(f.bytes + header.header_bytes, content, bytes);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_version_and_type),
                                       cmocka_unit_test(shapes_and_manners_of_writing),
                                       cmocka_unit_test(hostile_texts),
                                       cmocka_unit_test(hostile_prefixes),
                                       cmocka_unit_test(many_dimensions),
                                       cmocka_unit_test(fortran_order),
                                       cmocka_unit_test(byte_order),
                                       cmocka_unit_test(what_is_written_is_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
