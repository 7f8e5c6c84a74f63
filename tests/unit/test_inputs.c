// Which files are read and where their results go.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_format.h"
#include "run/fold.h"
#include "run/inputs.h"
#include "run/item_list.h"
#include "temp_dir.h"

static char said[16384];

static void say(void *context, gi_severity severity, const char *file, const char *text) {
    (void)context;
    size_t used = strlen(said);
    snprintf(said + used, sizeof said - used, "%d %s: %s\n", (int)severity, file ? file : "", text);
}

static const gi_messages messages = {say, NULL};
static gi_item_list list;
static gi_error err;

// Collects `inputs` (up to a NULL) into `output` with further settings of `base`.
static gi_status collect_with(gi_inputs_request base, const char *const *inputs, const char *output) {
    said[0] = '\0';
    err.text[0] = '\0';
    base.inputs = inputs;
    while (inputs && inputs[base.input_count]) base.input_count++;
    base.output = output;
    base.messages = &messages;
    return gi_inputs_collect(&base, &list, &err);
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define collect(output, ...) collect_with((gi_inputs_request){0}, NAMES(__VA_ARGS__), output)
#define collect_r(output, ...) collect_with((gi_inputs_request){.recursive = true}, NAMES(__VA_ARGS__), output)

static void put_png(const char *path) { put_file(path, png_signature, 8); }
static void put_jpeg(const char *path) { put_file(path, jpeg_signature, 4); }

static void assert_item(size_t i, const char *in, const char *out) {
    assert_true(i < list.count);
    if (in)
        assert_string_equal(list.items[i].in, in);
    else
        assert_null(list.items[i].in);
    if (out)
        assert_string_equal(list.items[i].out, out);
    else
        assert_null(list.items[i].out);
}

static void assert_refused(gi_status status, const char *part) {
    assert_int_equal(status, GI_ERR_USAGE);
    if (!strstr(err.text, part)) fail_msg("'%s' is not in '%s'", part, err.text);
    assert_int_equal(list.count, 0);
}

static void one_file(void **state) {
    (void)state;
    put_png("a.png");
    assert_int_equal(collect("b.png", "a.png"), GI_OK);
    assert_int_equal(list.count, 1);
    assert_item(0, "a.png", "b.png");
    assert_null(list.out_directory);
    gi_item_list_free(&list);
    assert_int_equal(collect("a.png", "a.png"), GI_OK); // in place
    gi_item_list_free(&list);
    mkdir("out", 0777);
    assert_int_equal(collect("out", "./a.png"), GI_OK);
    assert_item(0, "./a.png", "out/a.png");
    assert_string_equal(list.out_directory, "out");
    gi_item_list_free(&list);
    assert_int_equal(collect("new/", "a.png"), GI_OK);
    assert_item(0, "a.png", "new/a.png");
    gi_item_list_free(&list);
    assert_int_equal(collect(NULL, "missing.png"), GI_OK); // a sink; it fails by name later
    assert_item(0, "missing.png", NULL);
    gi_item_list_free(&list);
    assert_refused(collect("", "a.png"), "empty");
    assert_refused(collect("out", ""), "input 1 is empty");
    assert_refused(collect(NULL, "a.png", ""), "input 2 is empty");
    assert_refused(collect("a.png/", "a.png"), "not a directory");
    assert_refused(collect_with((gi_inputs_request){0}, NULL, "out"), "no input");
}

static void standard_streams(void **state) {
    (void)state;
    put_png("a.png");
    put_png("b.png");
    assert_int_equal(collect("-", "-"), GI_OK);
    assert_item(0, NULL, NULL);
    gi_item_list_free(&list);
    assert_int_equal(collect("b.png", "-"), GI_OK);
    assert_item(0, NULL, "b.png");
    gi_item_list_free(&list);
    assert_int_equal(collect("-", "./-"), GI_OK);
    assert_item(0, "./-", NULL);
    gi_item_list_free(&list);
    assert_refused(collect("-", "a.png", "b.png"), "standard output");
    assert_refused(collect("-", "."), "standard output");
    assert_refused(collect(".", "-"), "standard input");
    assert_refused(collect(NULL, "-", "-"), "more than once");
    assert_refused(collect_with((gi_inputs_request){.list = "-"}, NAMES("-"), NULL), "more than once");
}

static void several_files(void **state) {
    (void)state;
    put_png("a.png");
    put_jpeg("b.jpeg");
    assert_int_equal(collect("out", "b.jpeg", "a.png"), GI_OK);
    assert_item(0, "b.jpeg", "out/b.jpeg"); // in the order given
    assert_item(1, "a.png", "out/a.png");
    assert_string_equal(list.out_directory, "out");
    assert_int_equal(access("out", F_OK), -1); // not created here
    gi_item_list_free(&list);
    assert_refused(collect("out.PNG", "a.png", "b.jpeg"), "out.PNG");
    assert_refused(collect("a.png", "a.png", "b.jpeg"), "a.png is a file");
    assert_refused(collect("/dev/null", "a.png", "b.jpeg"), "is a file");
    assert_int_equal(collect("out.png/", "a.png", "b.jpeg"), GI_OK);
    assert_item(0, "a.png", "out.png/a.png");
    gi_item_list_free(&list);
    assert_int_equal(collect(NULL, "a.png", "a.png"), GI_OK); // a sink may read a file twice
    gi_item_list_free(&list);
}

static void make_tree(void) {
    mkdir("in", 0777);
    mkdir("in/sub", 0777);
    mkdir("in/sub/deep.png", 0777); // a directory, whatever its name
    mkdir("in/.hidden", 0777);
    put_png("in/b.png");
    put_jpeg("in/a.JPG");
    put_png("in/.dot.png");
    put_png("in/picture"); // an image by signature alone
    put_text("in/notes.txt", "text");
    put_text("in/fake.png", "text");
    put_png("in/sub/c.png");
    put_png("in/sub/deep.png/d.png");
    put_png("in/.hidden/e.png");
    assert_int_equal(mkfifo("in/fifo.png", 0666), 0);
    assert_int_equal(symlink("..", "in/up"), 0);
    assert_int_equal(symlink("b.png", "in/link.png"), 0);
    assert_int_equal(symlink("nowhere", "in/broken.png"), 0);
    assert_int_equal(symlink("fifo.png", "in/pipe-link.png"), 0);
}

static void directory(void **state) {
    (void)state;
    make_tree();
    assert_int_equal(collect("out", "in/"), GI_OK);
    assert_int_equal(list.count, 6);
    assert_item(0, "in/a.JPG", "out/a.JPG");
    assert_item(1, "in/b.png", "out/b.png");
    assert_item(2, "in/broken.png", "out/broken.png");
    assert_item(3, "in/fake.png", "out/fake.png");
    assert_item(4, "in/link.png", "out/link.png");
    assert_item(5, "in/picture", "out/picture");
    assert_int_equal(list.skipped, 3); // the text, the FIFO, the link to it
    assert_int_equal(list.failed, 0);
    assert_true(list.items[0].from_directory);
    assert_non_null(strstr(said, "in/up: a symbolic link to a directory is not entered"));
    gi_item_list_free(&list);
    assert_int_equal(collect_r(NULL, "in"), GI_OK);
    assert_int_equal(list.count, 8);
    assert_item(6, "in/sub/c.png", NULL);
    assert_item(7, "in/sub/deep.png/d.png", NULL);
    assert_string_equal(gi_item_relative(&list.items[7]), "sub/deep.png/d.png");
    gi_item_list_free(&list);
    assert_int_equal(collect(NULL, "in//", ".//./in/b.png", "-"), GI_OK);
    assert_string_equal(gi_item_relative(&list.items[0]), "a.JPG");
    assert_string_equal(gi_item_relative(&list.items[6]), "in/b.png");
    assert_string_equal(gi_item_relative(&list.items[7]), "-");
    gi_item_list_free(&list);
    assert_int_equal(collect("out", "in/.dot.png", "in/.hidden"), GI_OK); // named ones are taken
    assert_int_equal(list.count, 2);
    assert_item(1, "in/.hidden/e.png", "out/e.png");
    gi_item_list_free(&list);
    put_text("file", "");
    assert_refused(collect("file", "in"), "file is a file");
    assert_refused(collect("out.png", "in"), "out.png");
}

static void output_inside_input(void **state) {
    (void)state;
    mkdir("in", 0777);
    mkdir("in/out", 0777);
    mkdir("in/z", 0777);
    put_png("in/a.png");
    put_png("in/out/a.png");
    put_png("in/z/a.png");
    assert_int_equal(collect_r("in//out", "in"), GI_OK);
    assert_int_equal(list.count, 2);
    assert_item(0, "in/a.png", "in//out/a.png");
    assert_item(1, "in/z/a.png", "in//out/z/a.png");
    gi_item_list_free(&list);
    assert_int_equal(collect_r("in", "in"), GI_OK); // in place
    assert_int_equal(list.count, 3);
    assert_item(1, "in/out/a.png", "in/out/a.png");
    gi_item_list_free(&list);
}

static void format_names(void **state) {
    (void)state;
    static const struct {
        const char *name, *png, *jpg;
    } rows[] = {{"a.png", "a.png", "a.jpg"},       {"a.PNG", "a.PNG", "a.jpg"}, {"a.jpeg", "a.png", "a.jpeg"},
                {"a.b.JPG", "a.b.png", "a.b.JPG"}, {"a", "a.png", "a.jpg"},     {"a.gif", "a.gif.png", "a.gif.jpg"},
                {".png", ".png", ".jpg"},          {"a.", "a..png", "a..jpg"},  {"\xff\n", "\xff\n.png", "\xff\n.jpg"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t length = strlen(rows[i].name);
        char *same = gi_output_name(rows[i].name, length, GI_FORMAT_UNKNOWN);
        char *png = gi_output_name(rows[i].name, length, GI_FORMAT_PNG);
        char *jpg = gi_output_name(rows[i].name, length, GI_FORMAT_JPEG);
        assert_string_equal(same, rows[i].name);
        assert_string_equal(png, rows[i].png);
        assert_string_equal(jpg, rows[i].jpg);
        free(same);
        free(png);
        free(jpg);
    }
}

static void literal_names(void **state) {
    (void)state;
    // In byte order, as they are listed.
    static const char *const names[] = {" ",        "%s%n", "*",        "-r.png",      "[0].png",
                                        "a\nb.png", "a:b",  "\xc3\xa9", "\xff\xfe.png"};
    enum { COUNT = sizeof names / sizeof *names };
    mkdir("in", 0777);
    for (size_t i = 0; i < COUNT; i++) {
        char path[64];
        snprintf(path, sizeof path, "in/%s", names[i]);
        put_png(path);
    }
    assert_int_equal(collect("out", "in"), GI_OK);
    assert_int_equal(list.count, COUNT);
    for (size_t i = 0; i < COUNT; i++) assert_string_equal(list.items[i].in + 3, names[i]);
    gi_item_list_free(&list);
}

static gi_status collect_list(const char *bytes, size_t size, bool nul, const char *output) {
    put_file("list", bytes, size);
    return collect_with((gi_inputs_request){.list = "list", .list_nul = nul}, NULL, output);
}

static void lists(void **state) {
    (void)state;
    put_png("a.png");
    static const char lines[] = "a.png\n\nb\r\n-\n  c";
    assert_int_equal(collect_list(lines, sizeof lines - 1, false, NULL), GI_OK);
    assert_int_equal(list.count, 4);
    assert_item(0, "a.png", NULL);
    assert_item(1, "b\r", NULL); // literal bytes
    assert_item(2, "-", NULL);   // a file of that name
    assert_item(3, "  c", NULL);
    gi_item_list_free(&list);
    static const char nuls[] = "a\nb\0\0a.png";
    assert_int_equal(collect_list(nuls, sizeof nuls - 1, true, "out"), GI_OK);
    assert_int_equal(list.count, 2);
    assert_item(0, "a\nb", "out/a\nb");
    gi_item_list_free(&list);
    assert_int_equal(collect_list(nuls, sizeof nuls, true, "out"), GI_OK); // ended by NUL: the same
    assert_int_equal(list.count, 2);
    gi_item_list_free(&list);
    assert_refused(collect_list(nuls, sizeof nuls, false, "out"), "-0");
    assert_int_equal(collect_list("a.png", 5, false, "one"), GI_OK); // a list means a directory
    assert_item(0, "a.png", "one/a.png");
    gi_item_list_free(&list);
    assert_int_equal(collect_list("a.png", 5, false, "one.png"), GI_OK);
    assert_item(0, "a.png", "one.png");
    gi_item_list_free(&list);
    assert_int_equal(collect_list("", 0, false, "out"), GI_OK);
    assert_int_equal(list.count, 0);
    gi_item_list_free(&list);
    assert_int_equal(collect_with((gi_inputs_request){.list = "nolist"}, NULL, NULL), GI_ERR_IO);
    assert_non_null(strstr(err.text, "nolist"));
    assert_int_equal(collect_with((gi_inputs_request){.list = "."}, NULL, NULL), GI_ERR_IO);
}

static void collisions(void **state) {
    (void)state;
    mkdir("p", 0777);
    mkdir("q", 0777);
    put_png("p/a.png");
    put_jpeg("p/a.jpg");
    put_png("q/a.png");
    assert_int_equal(collect("out", "p"), GI_OK);
    gi_item_list_free(&list);
    gi_inputs_request png = {.format = GI_FORMAT_PNG};
    assert_refused(collect_with(png, NAMES("p"), "out"), "p/a.jpg and p/a.png would both be written to out/a.png");
    assert_refused(collect("out", "p", "q"), "p/a.png and q/a.png");
    assert_refused(collect("out", "p/a.png", "p/a.png"), "named twice");
    assert_refused(collect("out", "p/a.png", ".//p/../p/a.png"), "p/a.png and .//p/../p/a.png");
    // Links in OUT: two names, one file.
    mkdir("out", 0777);
    mkdir("out/x", 0777);
    assert_int_equal(symlink("x", "out/y"), 0);
    mkdir("in", 0777);
    mkdir("in/x", 0777);
    mkdir("in/y", 0777);
    put_png("in/x/a.png");
    put_png("in/y/a.png");
    assert_refused(collect_r("out", "in"), "in/x/a.png and in/y/a.png");
    mkdir("out2", 0777);
    assert_int_equal(symlink("b.png", "out2/a.png"), 0);
    put_png("p/b.png");
    assert_refused(collect("out2", "p/a.png", "p/b.png"), "p/a.png and p/b.png");
}

static void overwritten_inputs(void **state) {
    (void)state;
    mkdir("p", 0777);
    mkdir("q", 0777);
    put_png("p/a.png");
    put_png("q/a.png");
    put_png("q/b.png");
    // q/a.png would be replaced by the result of p/a.png before it is read.
    assert_refused(collect_with((gi_inputs_request){.format = GI_FORMAT_JPEG}, NAMES("p/a.png", "q/a.jpg"), "q"),
                   "p/a.png and q/a.jpg");
    mkdir("r", 0777);
    put_png("r/x.jpg");
    put_png("r/x.png");
    assert_refused(
        collect_with((gi_inputs_request){.format = GI_FORMAT_PNG}, NAMES("r/x.jpg", "q/b.png", "r/x.png"), "r"),
        "r/x.jpg and r/x.png");
    // Mirrored one level up: in/in/a.png goes to in/a.png, which goes to a.png.
    mkdir("in", 0777);
    mkdir("in/in", 0777);
    put_png("in/a.png");
    put_png("in/in/a.png");
    assert_refused(collect_r(".", "in"), "the result of in/in/a.png would replace the input in/a.png");
    // Hard links are different names: writing one leaves the other.
    mkdir("h", 0777);
    put_png("h/a.png");
    assert_int_equal(link("h/a.png", "h/b.png"), 0);
    assert_int_equal(collect("h", "h"), GI_OK);
    gi_item_list_free(&list);
    // In place through a link: both results would replace one file.
    assert_int_equal(symlink("a.png", "h/c.png"), 0);
    assert_refused(collect("h", "h"), "h/a.png and h/c.png");
}

static void letter_case(void **state) {
    (void)state;
    put_png("A.png");
    put_png("a.png");
    if (gi_folds_case(".")) skip();
    assert_int_equal(collect("out", "A.png", "a.png"), GI_OK);
    gi_item_list_free(&list);
    assert_int_equal(entry_count("."), 2); // the probe leaves nothing
    assert_false(gi_folds_case("missing"));
    static const char *const pairs[][2] = {{"A.PNG", "a.png"},
                                           {"\xc3\x89", "\xc3\xa9"},
                                           {"\xff"
                                            "A",
                                            "\xff"
                                            "a"},
                                           {"\xc1\x81", "\xc1\x81"},
                                           {"\xc8\xba", "\xe2\xb1\xa5"},
                                           {"\xe2\x82", "\xe2\x82"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char *folded = gi_fold_case(pairs[i][0]);
        assert_string_equal(folded, pairs[i][1]);
        free(folded);
    }
}

// A directory that cannot be opened, also for root: its path is longer than the system takes.
static void deep_tree(void **state) {
    (void)state;
    char name[201];
    memset(name, 'd', 200);
    name[200] = '\0';
    mkdir("in", 0777);
    put_png("in/a.png");
    int before = open(".", O_RDONLY | O_DIRECTORY);
    assert_int_equal(chdir("in"), 0);
    for (int i = 0; i < 30; i++) {
        assert_int_equal(mkdir(name, 0777), 0);
        assert_int_equal(chdir(name), 0);
    }
    put_png("deepest.png");
    assert_int_equal(fchdir(before), 0);
    close(before);
    assert_int_equal(collect_r("out", "in"), GI_OK);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.failed, 1);
    assert_non_null(strstr(said, "cannot read the directory: File name too long"));
    assert_string_equal(list.unread[0].reason, "cannot read the directory: File name too long");
    assert_int_equal(strncmp(list.unread[0].in, "in/ddd", 6), 0);
    assert_int_equal(strncmp(list.unread[0].out, "out/ddd", 7), 0);
    gi_item_list_free(&list);
    // nftw cannot remove such a path whole.
    assert_int_equal(system("rm -r in"), 0);
}

static void many_files(void **state) {
    (void)state;
    enum { COUNT = 5000 };
    mkdir("in", 0777);
    for (int i = 0; i < COUNT; i++) {
        char path[32];
        snprintf(path, sizeof path, "in/%d.png", i);
        put_png(path);
    }
    assert_int_equal(collect("out", "in"), GI_OK);
    assert_int_equal(list.count, COUNT);
    for (size_t i = 1; i < COUNT; i++) assert_true(strcmp(list.items[i - 1].in, list.items[i].in) < 0);
    gi_item_list_free(&list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEMP_DIR_TEST(one_file),
        TEMP_DIR_TEST(standard_streams),
        TEMP_DIR_TEST(several_files),
        TEMP_DIR_TEST(directory),
        TEMP_DIR_TEST(output_inside_input),
        TEMP_DIR_TEST(format_names),
        TEMP_DIR_TEST(literal_names),
        TEMP_DIR_TEST(lists),
        TEMP_DIR_TEST(collisions),
        TEMP_DIR_TEST(overwritten_inputs),
        TEMP_DIR_TEST(letter_case),
        TEMP_DIR_TEST(deep_tree),
        TEMP_DIR_TEST(many_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
