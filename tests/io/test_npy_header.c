/* SPDX-License-Identifier: Apache-2.0 */
/* test_npy_header.c - npy headers: those that numpy writes, byte for byte; what else is a header;
   and every way in which a file can lie about itself. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/test.h"
#include "io/npy_header.h"
#include "io/part_file.h"

enum { FILE_LEN = 2048 };

/* What numpy 1.24 writes for np.array([[1, 2, 3], [4, 5, 6]], '<i4'). */
static const unsigned char from_numpy[] =
    "\x93NUMPY\x01\x00v\x00{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }"
    "                                                          \n"
    "\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00\x04\x00\x00\x00\x05\x00\x00\x00\x06\x00\x00";
_Static_assert(sizeof from_numpy == 128 + 24, "the last byte is that of the C string");

/* A file of this version with this header and n bytes after it. */
static size_t make_file(unsigned char *file, int version, const char *text, size_t n)
{
    size_t length = strlen(text), at = version == 1 ? 10 : 12;

    memset(file, 0, FILE_LEN);
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (unsigned char)version;
    file[8] = (unsigned char)length;
    file[9] = (unsigned char)(length >> 8);
    memcpy(file + at, text, length);
    return at + length + n;
}

/* ---- good ones ---- */

static void as_numpy_writes_it(void **state)
{
    const tsr_shape shape = {.ndim = 2, .size = {2, 3}};
    char text[TSR_NPY_WRITTEN];
    tsr_npy npy;
    size_t n;

    (void)state;
    assert_int_equal(tsr__npy_parse("x", from_numpy, sizeof from_numpy, &npy, NULL), TSR_OK);
    assert_int_equal(npy.dtype, TSR_I32);
    assert_int_equal(npy.shape.ndim, 2);
    assert_int_equal(npy.shape.size[0], 2);
    assert_int_equal(npy.shape.size[1], 3);
    assert_int_equal(npy.data, 128);
    assert_int_equal(tsr__npy_write(TSR_I32, &shape, text, &n, NULL), TSR_OK);
    assert_int_equal(n, 128);
    assert_memory_equal(text, from_numpy, 128);
}

static void written_headers(void **state)
{
    static const struct {
        tsr_shape shape;
        const char *text;
    } cases[] = {
        {{0, {0}}, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }"},
        {{1, {5}}, "{'descr': '<f8', 'fortran_order': False, 'shape': (5,), }"},
        {{1, {0}}, "{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }"},
        {{3, {1, 20, 300}}, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 20, 300), }"},
    };
    static const char *const descr[] = {"<f4", "<f8", "<f2", "<V2", "<i4", "<i8", "|u1",
                                        "|b1", "|i1", "<i2", "<u2", "<u4", "<u8"};
    char text[TSR_NPY_WRITTEN];
    tsr_shape large = {.ndim = 8};
    tsr_npy npy;
    size_t n;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(tsr__npy_write(TSR_F64, &cases[i].shape, text, &n, NULL), TSR_OK);
        assert_int_equal(n, 128);
        assert_memory_equal(text + 10, cases[i].text, strlen(cases[i].text));
        assert_int_equal(text[n - 1], '\n');
    }
    for (int t = TSR_F32; t < TSR__FIELD; t++) {
        assert_int_equal(tsr__npy_write((tsr_dtype)t, &cases[0].shape, text, &n, NULL), TSR_OK);
        assert_memory_equal(text + 21, descr[t], 3);
    }
    for (int d = 0; d < 8; d++)
        large.size[d] = d ? 1 : INT64_MAX;
    assert_int_equal(tsr__npy_write(TSR_U8, &large, text, &n, NULL), TSR_OK);
    assert_int_equal(n % 64, 0);
    assert_int_equal(tsr__npy_text("x", text + 10, n - 10, 0, INT64_MAX, &npy, NULL), TSR_OK);
    assert_int_equal(npy.shape.size[0], INT64_MAX);
    assert_int_equal(tsr__npy_write((tsr_dtype)TSR__FIELD, &large, text, &n, NULL), TSR_ERR_DTYPE);
}

static void other_good_headers(void **state)
{
    static const struct {
        const char *text;
        tsr_dtype dtype;
        size_t n; /* bytes of data */
        int ndim;
    } cases[] = {
        {"{'shape': (2,), 'fortran_order': False, 'descr': '=f4'}", TSR_F32, 8, 1},
        {"{\"descr\":\"|f4\",\"fortran_order\":False,\"shape\":(2,1)}", TSR_F32, 8, 2},
        {" {'descr' : 'f8' , 'fortran_order' : False , 'shape' : ( 2 , 2 , ) , } \n\n", TSR_F64, 32,
         2},
        {"{'descr': '|V2', 'fortran_order': False, 'shape': (3L, 2L), }", TSR_BF16, 12, 2},
        {"{'descr': '<V2', 'fortran_order': False, 'shape': (), }", TSR_BF16, 2, 0},
        {"{'descr': '>u1', 'fortran_order': False, 'shape': (7,), }", TSR_U8, 7, 1},
        {"{'descr': '<b1', 'fortran_order': False, 'shape': (0, 9223372036854775807), }", TSR_BOOL,
         0, 2},
        {"{'descr': '<f2', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 2), }", TSR_F16,
         4, 8},
        {"{'descr': '<i8', 'fortran_order': False, 'shape': (0,), }", TSR_I64, 0, 1},
        {"{'descr': '>f4', 'fortran_order': True, 'shape': (2, 3), }", TSR_F32, 24, 2},
        {"{'descr': '|i1', 'fortran_order': False, 'shape': (3,), }", TSR_I8, 3, 1},
        {"{'descr': '>i2', 'fortran_order': False, 'shape': (3,), }", TSR_I16, 6, 1},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }", TSR_U16, 6, 1},
        {"{'descr': '<u4', 'fortran_order': False, 'shape': (3,), }", TSR_U32, 12, 1},
        {"{'descr': '>u8', 'fortran_order': False, 'shape': (3,), }", TSR_U64, 24, 1},
    };
    unsigned char file[FILE_LEN];
    tsr_npy npy;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int version = 1; version <= 3; version++) {
            size_t n = make_file(file, version, cases[i].text, cases[i].n);
            tsr_error err = {0};
            if (tsr__npy_parse("x.npy", file, n, &npy, &err) != TSR_OK)
                fail_msg("%s: %s", cases[i].text, err.text);
            assert_int_equal(npy.dtype, cases[i].dtype);
            assert_int_equal(npy.shape.ndim, cases[i].ndim);
            assert_int_equal(npy.data, n - cases[i].n);
        }
}

/* ---- bad ones ---- */

static void bad_texts(void **state)
{
#define HEAD "{'descr': '<f4', 'fortran_order': False, 'shape': "
#define TYPES "f2 f4 f8 V2 i1 i2 i4 i8 u1 u2 u4 u8 b1"
    static const struct {
        const char *text;
        tsr_status st;
        const char *sentence; /* all of it after "npy file x.npy: " */
    } cases[] = {
        {HEAD "(3,), }", TSR_ERR_FORMAT, "f32[3] needs 12 bytes after the header, but there are 8"},
        {HEAD "(1,), }", TSR_ERR_FORMAT, "f32[1] needs 4 bytes after the header, but there are 8"},
        {HEAD "(0, 5), }", TSR_ERR_FORMAT,
         "f32[0,5] needs 0 bytes after the header, but there are 8"},
        {HEAD "(-2,), }", TSR_ERR_FORMAT,
         "header: expected a size that is not negative at byte 51"},
        {HEAD "(9223372036854775808,), }", TSR_ERR_FORMAT,
         "header: expected a size below 2^63 at byte 51"},
        {HEAD "(4294967296, 4294967296), }", TSR_ERR_FORMAT,
         "shape [4294967296,4294967296] has more than 2^63 bytes"},
        {HEAD "(4294967296, 4294967296, 0), }", TSR_ERR_FORMAT,
         "shape [4294967296,4294967296,0] has more than 2^63 bytes"},
        {HEAD "(0, 4294967296, 4294967296), }", TSR_ERR_FORMAT,
         "shape [0,4294967296,4294967296] has more than 2^63 bytes"},
        {HEAD "(4294967296, 0, 4294967296), }", TSR_ERR_FORMAT,
         "shape [4294967296,0,4294967296] has more than 2^63 bytes"},
        {HEAD "(1, 1, 1, 1, 1, 1, 1, 1, 2), }", TSR_ERR_SHAPE, "its shape has more than 8 dims"},
        {HEAD "(2), }", TSR_ERR_FORMAT,
         "header: the shape is a number, expected a tuple like (3,)"},
        {HEAD "2, }", TSR_ERR_FORMAT, "header: expected '(' at byte 50"},
        {HEAD "[2], }", TSR_ERR_FORMAT, "header: expected '(' at byte 50"},
        {HEAD "(2 1), }", TSR_ERR_FORMAT, "header: expected ',' at byte 53"},
        {HEAD "(,), }", TSR_ERR_FORMAT, "header: expected a size at byte 51"},
        {HEAD "(2.0,), }", TSR_ERR_FORMAT, "header: expected ',' at byte 52"},
        {HEAD "(2,", TSR_ERR_FORMAT, "header: expected a size at byte 53"},
        {HEAD "(2,)", TSR_ERR_FORMAT, "header: expected '}' at byte 54"},
        {HEAD "(2,)} x", TSR_ERR_FORMAT, "header: expected the end at byte 56"},
        {HEAD "(2,)} \x01\xff", TSR_ERR_FORMAT, "header: expected the end at byte 56"},
        {"", TSR_ERR_FORMAT, "header: expected '{' at byte 0"},
        {"garbage", TSR_ERR_FORMAT, "header: expected '{' at byte 0"},
        {"{}", TSR_ERR_FORMAT, "header: no key 'descr'"},
        {"{'descr': '<f4', 'shape': (2,)}", TSR_ERR_FORMAT, "header: no key 'fortran_order'"},
        {"{'descr': '<f4', 'fortran_order': False}", TSR_ERR_FORMAT, "header: no key 'shape'"},
        {"{'fortran_order': False, 'shape': (2,)}", TSR_ERR_FORMAT, "header: no key 'descr'"},
        {"{'descr': '<f4', 'descr': '<f4'}", TSR_ERR_FORMAT, "header: repeated key 'descr'"},
        {"{'other': 3}", TSR_ERR_FORMAT, "header: unknown key at byte 1"},
        {"{descr: 3}", TSR_ERR_FORMAT, "header: expected a key at byte 1"},
        {"{'descr}", TSR_ERR_FORMAT, "header: expected a key at byte 1"},
        {"{'de\\x73cr': '<f4'}", TSR_ERR_FORMAT, "header: expected a key at byte 1"},
        {"{'descr' '<f4'}", TSR_ERR_FORMAT, "header: expected ':' at byte 9"},
        {"{'descr': 3}", TSR_ERR_FORMAT, "header: expected a type like '<f4' at byte 10"},
        {"{'descr': '<f4', 'fortran_order': 0}", TSR_ERR_FORMAT,
         "header: expected True or False at byte 34"},
        {"{'descr': '>V2'}", TSR_ERR_DTYPE, "type '>V2' has no byte order, expected |V2"},
        {"{'descr': '<c8'}", TSR_ERR_DTYPE, "type '<c8' is not among " TYPES},
        {"{'descr': '<i3'}", TSR_ERR_DTYPE, "type '<i3' is not among " TYPES},
        {"{'descr': ''}", TSR_ERR_DTYPE, "its type is not among " TYPES},
        {"{'descr': 'root:x:0:0'}", TSR_ERR_DTYPE, "its type is not among " TYPES},
        {"{'descr': '<u2', 'fortran_order': True, 'shape': (3,)}", TSR_ERR_FORMAT,
         "u16[3] needs 6 bytes after the header, but there are 8"},
        {"{'descr': [('a', '<f4')]}", TSR_ERR_DTYPE, "structured dtypes are not supported"},
    };
#undef HEAD
#undef TYPES
    unsigned char file[FILE_LEN];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t n = make_file(file, 1, cases[i].text, 8);
        tsr_npy npy = {.data = -1};
        tsr_error err = {0};
        char sentence[TSR_ERROR_LEN];
        snprintf(sentence, sizeof sentence, "npy file x.npy: %s", cases[i].sentence);
        assert_int_equal(tsr__npy_parse("x.npy", file, n, &npy, &err), cases[i].st);
        assert_int_equal(err.code, cases[i].st);
        assert_string_equal(err.text, sentence);
        assert_int_equal(npy.data, -1);
    }
}

static void bad_prefixes(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
        const char *sentence;
    } cases[] = {
        {"", 0, "bad magic bytes"},
        {"\x93NUM", 4, "bad magic bytes"},
        {"PK\x03\x04 not npy at all", 20, "bad magic bytes"},
        {"\x93NUMPY\x01", 7, "only 7 bytes, no version"},
        {"\x93NUMPY\x01\0", 8, "only 8 bytes, it ends before its header"},
        {"\x93NUMPY\x02\0\x10\0", 10, "only 10 bytes, it ends before its header"},
        {"\x93NUMPY\x04\0\x10\0\0\0", 12, "version 4.0 is unknown; expected 1.0, 2.0 or 3.0"},
        {"\x93NUMPY\0\0\x10\0\0\0", 12, "version 0.0 is unknown; expected 1.0, 2.0 or 3.0"},
        {"\x93NUMPY\x01\x01\x10\0\0\0", 12, "version 1.1 is unknown; expected 1.0, 2.0 or 3.0"},
        {"\x93NUMPY\x01\0\x10\0{}", 12, "a header of 16 bytes goes beyond the file's 12"},
        {"\x93NUMPY\x02\0\xff\xff\xff\xff", 12,
         "a header of 4294967295 bytes goes beyond the file's 12"},
    };
    const unsigned char long_one[] = "\x93NUMPY\x02\0\x01\0\x10\0";
    int64_t begin, length;
    tsr_error err = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tsr_npy npy;
        char sentence[TSR_ERROR_LEN];
        err = (tsr_error){0};
        snprintf(sentence, sizeof sentence, "npy file x.npy: %s", cases[i].sentence);
        assert_int_equal(
            tsr__npy_parse("x.npy", (const unsigned char *)cases[i].bytes, cases[i].n, &npy, &err),
            TSR_ERR_FORMAT);
        assert_string_equal(err.text, sentence);
    }
    err = (tsr_error){0};
    assert_int_equal(
        tsr__npy_prefix("x.npy", long_one, TSR_NPY_PREFIX, INT64_MAX, &begin, &length, &err),
        TSR_ERR_FORMAT);
    assert_string_equal(err.text, "npy file x.npy: a header of 1048577 bytes; at most 1048576 are "
                                  "accepted");
}

/* No prefix of a good file is good. */
static void every_truncation(void **state)
{
    tsr_npy npy;

    (void)state;
    for (size_t n = 0; n < sizeof from_numpy; n++) {
        unsigned char *copy = malloc(n ? n : 1); /* so that a sanitizer sees what lies beyond */
        memcpy(copy, from_numpy, n);
        assert_int_equal(tsr__npy_parse("x", copy, n, &npy, NULL), TSR_ERR_FORMAT);
        free(copy);
    }
}

/* ---- files ---- */

static void info_of_files(void **state)
{
    char folder[] = "/tmp/tessera_npy_XXXXXX", path[64], missing[TSR_ERROR_LEN];
    tsr_dtype dtype;
    tsr_shape shape;
    tsr_error err = {0};
    FILE *file;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/x.npy", folder);
    snprintf(missing, sizeof missing, "cannot open %s: No such file or directory", path);
    assert_int_equal(tsr_npy_info(path, &dtype, &shape, &err), TSR_ERR_IO);
    assert_string_equal(err.text, missing);
    assert_int_equal(tsr_npy_info(folder, &dtype, &shape, NULL), TSR_ERR_IO);
    assert_int_equal(tsr_npy_info(NULL, &dtype, &shape, NULL), TSR_ERR_ARG);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(tsr_npy_info(path, &dtype, &shape, NULL), TSR_ERR_IO); /* at once */
    unlink(path);
    file = fopen(path, "w");
    assert_int_equal(tsr_npy_info(path, &dtype, &shape, NULL), TSR_ERR_FORMAT);
    fwrite(from_numpy, 1, sizeof from_numpy, file);
    fclose(file);
    assert_int_equal(tsr_npy_info(path, &dtype, &shape, NULL), TSR_OK);
    assert_int_equal(dtype, TSR_I32);
    assert_int_equal(shape.ndim, 2);
    assert_int_equal(tsr_npy_info(path, NULL, NULL, NULL), TSR_OK);
    assert_int_equal(truncate(path, 150), 0);
    assert_int_equal(tsr_npy_info(path, &dtype, &shape, NULL), TSR_ERR_FORMAT);
    unlink(path);
    rmdir(folder);
}

/* A file that is cut after its header was read. */
static void a_file_that_shrinks(void **state)
{
    char path[] = "/tmp/tessera_npy_XXXXXX", text[8];
    int fd = mkstemp(path);
    tsr_error err = {0};

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(tsr__file_write(fd, path, "12345", 5, 2, NULL), TSR_OK);
    assert_int_equal(tsr__file_read(fd, path, text, 5, 2, NULL), TSR_OK);
    assert_memory_equal(text, "12345", 5);
    assert_int_equal(tsr__file_read(fd, "x", text, 5, 3, &err), TSR_ERR_FORMAT);
    assert_string_equal(err.text, "file x ends at byte 7, 1 bytes too early");
    close(fd);
    assert_int_equal(tsr__file_read(fd, path, text, 5, 2, NULL), TSR_ERR_IO);
    assert_int_equal(tsr__file_write(fd, path, text, 5, 2, NULL), TSR_ERR_IO);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_numpy_writes_it), cmocka_unit_test(written_headers),
        cmocka_unit_test(other_good_headers), cmocka_unit_test(bad_texts),
        cmocka_unit_test(bad_prefixes),       cmocka_unit_test(every_truncation),
        cmocka_unit_test(info_of_files),      cmocka_unit_test(a_file_that_shrinks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
