/* SPDX-License-Identifier: Apache-2.0 */
/* test_shapes.c - ops on shapes: values that PyTorch gives for small cases, in every simple layout;
   split and chunk, which give lists; views, which share memory; lists too long, empty or of the
   wrong tensors, and calls that cannot be: one sentence with values. */
#include "support/test.h"
#include "support/bad_texts.h"

enum { MOST = 64, WORDS = 4 };

/* ---- values ---- */

/* Element i of input k is i + 100 k; `out` is the shape of output 0 and `values` what is there. */
typedef struct known {
    const char *op, *in, *attrs, *out;
    const double *values;
    int n;
} known;

static const known KNOWN[] = {
    {"expand", "f64[2,1]", "sizes=2,-1,3", "[2,2,3]",
     (double[]){0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1}, 12},
    {"tile", "f64[2,3]", "counts=2,1,2", "[2,2,6]",
     (double[]){0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5, 0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}, 24},
    {"tile", "f64[2,3]", "counts=2", "[2,6]", (double[]){0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}, 12},
    {"cat", "f64[2,3] f64[1,3]", "dim=0", "[3,3]", (double[]){0, 1, 2, 3, 4, 5, 100, 101, 102}, 9},
    {"stack", "f64[2,3] f64[2,3]", "dim=-1", "[2,3,2]",
     (double[]){0, 100, 1, 101, 2, 102, 3, 103, 4, 104, 5, 105}, 12},
    {"permute", "f64[2,2,3]", "dims=2,0,-2", "[3,2,2]",
     (double[]){0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11}, 12},
    {"squeeze", "f64[1,3,1,2]", "", "[3,2]", (double[]){0, 1, 2, 3, 4, 5}, 6},
    {"squeeze", "f64[1,3,1,2]", "dims=0,1", "[3,1,2]", (double[]){0, 1, 2, 3, 4, 5}, 6},
    {"unsqueeze", "f64[2,3]", "dims=-1", "[2,3,1]", (double[]){0, 1, 2, 3, 4, 5}, 6},
    {"flatten", "f64[2,2,3]", "start=1", "[2,6]", (double[]){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
     12},
    {"slice", "f64[4,3]", "dim=0 start=1 stop=-1 step=2", "[1,3]", (double[]){3, 4, 5}, 3},
    {"narrow", "f64[4,3]", "dim=1 start=-2 length=1", "[4,1]", (double[]){1, 4, 7, 10}, 4},
    {"select", "f64[4,3]", "dim=0 index=-2", "[3]", (double[]){6, 7, 8}, 3},
    {"unfold", "f64[4,3]", "dim=0 size=3 step=1", "[2,3,3]",
     (double[]){0, 3, 6, 1, 4, 7, 2, 5, 8, 3, 6, 9, 4, 7, 10, 5, 8, 11}, 18},
    {"unfold", "f64[2,3]", "dim=-1 size=2 step=1", "[2,2,2]", (double[]){0, 1, 1, 2, 3, 4, 4, 5},
     8},
    {"diagonal", "f64[4,3]", "offset=-1", "[3]", (double[]){3, 7, 11}, 3},
    {"diagonal", "f64[2,2,3]", "offset=1 dim1=0 dim2=-1", "[2,2]", (double[]){1, 8, 4, 11}, 4},
    {"flip", "f64[2,2,3]", "dims=0,-1", "[2,2,3]", (double[]){8, 7, 6, 11, 10, 9, 2, 1, 0, 5, 4, 3},
     12},
    {"roll", "f64[2,3]", "shifts=-5", "[2,3]", (double[]){5, 0, 1, 2, 3, 4}, 6},
    {"roll", "f64[4,3]", "shifts=1,-7 dims=0,1", "[4,3]",
     (double[]){10, 11, 9, 1, 2, 0, 4, 5, 3, 7, 8, 6}, 12},
    {"pad", "f64[2,3]", "before=1,-1 after=0,2 value=7", "[3,4]",
     (double[]){7, 7, 7, 7, 1, 2, 7, 7, 4, 5, 7, 7}, 12},
    {"pad_reflect", "f64[2,3]", "before=1,2 after=0,1", "[3,6]",
     (double[]){5, 4, 3, 4, 5, 4, 2, 1, 0, 1, 2, 1, 5, 4, 3, 4, 5, 4}, 18},
    {"pad_replicate", "f64[2,3]", "before=1,2 after=3,1", "[6,6]",
     (double[]){0, 0, 0, 1, 2, 2, 0, 0, 0, 1, 2, 2, 3, 3, 3, 4, 5, 5,
                3, 3, 3, 4, 5, 5, 3, 3, 3, 4, 5, 5, 3, 3, 3, 4, 5, 5},
     36},
    {"pad_circular", "f64[2,3]", "before=1,2 after=0,3", "[3,8]",
     (double[]){4, 5, 3, 4, 5, 3, 4, 5, 1, 2, 0, 1, 2, 0, 1, 2, 4, 5, 3, 4, 5, 3, 4, 5}, 24},
    {"tril", "f64[2,3]", "diagonal=1", "[2,3]", (double[]){0, 1, 0, 3, 4, 5}, 6},
    {"tril", "f64[4,3]", "diagonal=-1", "[4,3]", (double[]){0, 0, 0, 3, 0, 0, 6, 7, 0, 9, 10, 11},
     12},
    {"triu", "f64[4,3]", "", "[4,3]", (double[]){0, 1, 2, 0, 4, 5, 0, 0, 8, 0, 0, 0}, 12},
    {"depth_to_space", "f64[1,4,1,2]", "block=2 crd=true", "[1,1,2,4]",
     (double[]){0, 2, 1, 3, 4, 6, 5, 7}, 8},
    {"space_to_depth", "f64[1,1,4,2]", "block=2 crd=true", "[1,4,2,1]",
     (double[]){0, 4, 1, 5, 2, 6, 3, 7}, 8},
    {"slice_backward", "f64[2,3]", "dim=1 start=1 step=2 length=7", "[2,7]",
     (double[]){0, 0, 0, 1, 0, 2, 0, 0, 3, 0, 4, 0, 5, 0}, 14},
    {"unfold_backward", "f64[3,2,3]", "dim=0 size=3 step=2 length=8", "[8,2]",
     (double[]){0, 3, 1, 4, 8, 14, 7, 10, 20, 26, 13, 16, 14, 17, 0, 0}, 16},
    {"split", "f64[4,3]", "sizes=1,3", "[1,3]", (double[]){0, 1, 2}, 3},
    {"chunk", "f64[4,3]", "chunks=3", "[2,3]", (double[]){0, 1, 2, 3, 4, 5}, 6},
};

/* The words of a text, in buf. */
static int words(const char *text, char buf[WORDS][MOST])
{
    int n = 0, used;

    while (n < WORDS && sscanf(text, "%63s%n", buf[n], &used) == 1) {
        text += used;
        n++;
    }
    return n;
}

static bool has_shape(const tsr_tensor *x, const char *want)
{
    char text[TSR_TEXT_LEN];

    tsr_spec_text(tsr_tensor_spec(x), text, sizeof text);
    text[strcspn(text, "@")] = 0;
    return strcmp(text + strcspn(text, "["), want) == 0;
}

/* On every mesh dim the inputs are replicated, or sharded along one of their dims. */
static tsr_status run_known(tsr_mesh *mesh, const known *k, int dim)
{
    char in[WORDS][MOST], attr[WORDS][MOST], spec[TSR_TEXT_LEN];
    const char *attrs[WORDS] = {attr[0], attr[1], attr[2], attr[3]};
    const int n_in = words(k->in, in), n_attrs = words(k->attrs, attr);
    const int ndim = tsr_mesh_shape_get(mesh)->ndim;
    tsr_tensor *x[WORDS] = {NULL}, *y[TSR_OP_OUTPUTS];
    double host[MOST];

    for (int i = 0; i < n_in; i++) {
        size_t used = (size_t)snprintf(spec, sizeof spec, "%s@[", in[i]);
        for (int m = 0; m < ndim; m++)
            used += (size_t)snprintf(spec + used, sizeof spec - used, dim < 0 ? "%sR" : "%sS(%d)",
                                     m ? "," : "", (dim + m) % 2);
        snprintf(spec + used, sizeof spec - used, "]");
        for (int e = 0; e < MOST; e++)
            host[e] = e + 100 * i;
        x[i] = from_host(mesh, spec, host);
    }
    CHECK(tsr_op_run_all(mesh, k->op, x, n_in, attrs, n_attrs, y) == TSR_OK);
    CHECK(has_shape(y[0], k->out));
    CHECK(tsr_to_host(y[0], host, sizeof host[0] * (size_t)k->n) == TSR_OK);
    for (int e = 0; e < k->n; e++)
        if (host[e] != k->values[e]) {
            fprintf(stderr, "%s %s %s: element %d is %g, not %g\n", k->op, k->in, k->attrs, e,
                    host[e], k->values[e]);
            return TSR_ERR_MISMATCH;
        }
    return TSR_OK;
}

static tsr_status all_known(tsr_mesh *mesh, void *arg)
{
    tsr_overlap_set(mesh, arg ? TSR_OVERLAP_ALWAYS : TSR_OVERLAP_NEVER);
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++)
        for (int dim = -1; dim < 2; dim++) {
            tsr_scope_push(mesh);
            if (run_known(mesh, &KNOWN[i], dim) != TSR_OK)
                return TSR_ERR_MISMATCH;
            tsr_scope_pop(mesh);
        }
    return tsr_mesh_status(mesh);
}

static void values_are_pytorchs(void **state)
{
    bool overlapped = true; /* windows are filled while the interior is computed */

    (void)state;
    pass_on("1", all_known, NULL);
    pass_on("3", all_known, NULL);
    pass_on("2x2", all_known, NULL);
    pass_on("3", all_known, &overlapped);
    pass_on("2x2", all_known, &overlapped);
}

/* ---- lists ---- */

static tsr_status lists(tsr_mesh *mesh, void *arg)
{
    enum { N = 7 };
    tsr_tensor *x, *part[2 * N], *all;
    const int64_t sizes[] = {1, 0, 2, 1, 3};
    double host[3 * N], back[3 * N];

    (void)arg;
    for (int i = 0; i < 3 * N; i++)
        host[i] = i;
    x = from_host(mesh, "f64[7,3]@[S(0)]", host);
    CHECK(tsr_split(x, 0, sizes, 5, part) == TSR_OK);
    CHECK(has_shape(part[1], "[0,3]") && has_shape(part[4], "[3,3]"));
    all = tsr_cat(part, 5, 0);
    CHECK(tsr_to_host(all, back, sizeof back) == TSR_OK && !memcmp(host, back, sizeof back));

    CHECK(tsr_chunk(x, -2, 3, part) == TSR_OK);
    CHECK(has_shape(part[0], "[3,3]") && has_shape(part[2], "[1,3]"));
    CHECK(tsr_chunk(x, 0, 6, part) == TSR_OK); /* of 2: four are enough */
    CHECK(has_shape(part[3], "[1,3]") && !part[4] && !part[5]);

    /* more than a row takes */
    for (int i = 0; i < 2 * N; i++)
        part[i] = tsr_narrow(x, 0, i % N, 1);
    all = tsr_cat(part, 2 * N, 0);
    CHECK(has_shape(all, "[14,3]"));
    CHECK(tsr_to_host(tsr_narrow(all, 0, N, N), back, sizeof back) == TSR_OK);
    CHECK(!memcmp(host, back, sizeof back));
    for (int i = 0; i < 2 * N; i++)
        part[i] = tsr_select(x, 0, i % N);
    all = tsr_stack(part, 2 * N, 1);
    CHECK(has_shape(all, "[3,14]"));
    CHECK(tsr_to_host(tsr_narrow(tsr_transpose(all, 0, 1), 0, N, N), back, sizeof back) == TSR_OK);
    CHECK(!memcmp(host, back, sizeof back));
    return tsr_mesh_status(mesh);
}

/* Each of many parts is sharded along the dim in which they are joined: one halo for each, all of
   them under way at once. */
static tsr_status many_parts(tsr_mesh *mesh, void *arg)
{
    enum { N = 30, EACH = 5000 };
    tsr_tensor *part[N];
    double *host = malloc(N * EACH * sizeof *host);

    (void)arg;
    CHECK(host);
    for (int n = 8; n <= N; n += 11) {
        for (int i = 0; i < n; i++)
            part[i] = tsr_arange(mesh, "f64[5000]@[S(0)]", i * EACH, 1);
        CHECK(tsr_to_host(tsr_cat(part, n, 0), host, (size_t)n * EACH * sizeof *host) == TSR_OK);
        for (int i = 0; i < n * EACH; i++)
            CHECK(host[i] == i);
    }
    free(host);
    return tsr_mesh_status(mesh);
}

/* What only changes the shape shares memory until one of the two is overwritten. */
static tsr_status views(tsr_mesh *mesh, void *arg)
{
    const int64_t sizes[] = {3, 2, 2};
    const int dims[] = {1, 0};
    tsr_tensor *x = tsr_full(mesh, "f64[12]@[S(0)]", 1), *y = tsr_reshape(x, sizes, 3), *z;
    double host[12];
    tsr_local a, b;

    (void)arg;
    CHECK(tsr_local_view(x, &a) == TSR_OK && tsr_local_view(y, &b) == TSR_OK);
    CHECK(a.data == b.data);
    z = tsr_flatten(tsr_unsqueeze(y, dims, 2), 0, -1);
    CHECK(tsr_local_view(z, &b) == TSR_OK && a.data == b.data);
    tsr_add_inplace(y, y);
    CHECK(tsr_to_host(y, host, sizeof host) == TSR_OK && host[0] == 2 && host[11] == 2);
    CHECK(tsr_to_host(x, host, sizeof host) == TSR_OK && host[0] == 1 && host[11] == 1);
    tsr_add_inplace(x, tsr_flatten(y, 0, -1));
    CHECK(tsr_to_host(x, host, sizeof host) == TSR_OK && host[0] == 3 && host[11] == 3);
    CHECK(tsr_to_host(y, host, sizeof host) == TSR_OK && host[0] == 2 && host[11] == 2);
    CHECK(tsr_to_host(z, host, sizeof host) == TSR_OK && host[0] == 1 && host[11] == 1);
    return tsr_mesh_status(mesh);
}

static void views_share_memory(void **state)
{
    (void)state;
    pass_on("1", views, NULL);
    pass_on("3", views, NULL);
}

static void lists_of_any_length(void **state)
{
    (void)state;
    pass_on("1", lists, NULL);
    pass_on("3", lists, NULL);
    pass_on("4", many_parts, NULL);
}

/* ---- calls that cannot be ---- */

static const bad_text BAD[] = {
    {"permute f64[4,6] dims=0,0", TSR_ERR_ARG, "permute: dim 0 is repeated"},
    {"permute f64[4,6] dims=0", TSR_ERR_ARG, "permute: f64[4,6]@[R] has 2 dims, but dims lists 1"},
    {"permute f64[4,6] dims=0,2", TSR_ERR_SHAPE, "permute: dim 2 is out of range -2 to 1"},
    {"squeeze f64[4,1] dims=1,-1", TSR_ERR_ARG, "squeeze: dim 1 is repeated"},
    {"squeeze f64[4,1] dims=2", TSR_ERR_SHAPE, "squeeze: dim 2 is out of range -2 to 1"},
    {"unsqueeze f64[4,6] dims=3", TSR_ERR_SHAPE, "unsqueeze: dim 3 is out of range -3 to 2"},
    {"unsqueeze f64[4,6] dims=0,-4", TSR_ERR_ARG, "unsqueeze: dim 0 is repeated"},
    {"unsqueeze f64[1,1,1,1,1,1,1,2] dims=0", TSR_ERR_SHAPE,
     "unsqueeze: f64[1,1,1,1,1,1,1,2]@[R] has 8 dims, 1 more are too many, at most 8 "
     "are supported"},
    {"flatten f64[4,6,2] start=2 end=1", TSR_ERR_ARG, "flatten: start, dim 2, is after end, dim 1"},
    {"expand f64[4,6] sizes=6", TSR_ERR_SHAPE,
     "expand: f64[4,6]@[R] has 2 dims, but there are 1 sizes"},
    {"expand f64[4,6] sizes=4,7", TSR_ERR_SHAPE,
     "expand: dim 1 of f64[4,6]@[R] has size 6, which does not broadcast to 7"},
    {"expand f64[4,6] sizes=-1,4,6", TSR_ERR_SHAPE, "expand: size -1 of dim 0 is invalid"},
    {"tile f64[4,6] counts=-2", TSR_ERR_ARG, "tile: the count of dim 1 is -2, must be at least 0"},
    {"tile f64[4,6] counts=4611686018427387904", TSR_ERR_SHAPE,
     "tile: 4611686018427387904 copies make dim 1 too large"},
    {"cat f64[4,6] f64[4,5] dim=0", TSR_ERR_SHAPE,
     "cat: f64[4,6]@[R] and f64[4,5]@[R] differ in more than dim 0"},
    {"cat f64[4,6] f64[4,6] dim=2", TSR_ERR_SHAPE, "cat: dim 2 is out of range -2 to 1"},
    {"stack f64[4,6] f64[4,5]", TSR_ERR_SHAPE,
     "stack: f64[4,6]@[R] and f64[4,5]@[R] are of different shapes"},
    {"stack f64[4] f32[4]", TSR_ERR_DTYPE, "stack: dtypes differ in f64[4]@[R] f32[4]@[R]"},
    {"stack f64[4] dim=2", TSR_ERR_SHAPE, "stack: dim 2 is out of range -2 to 1"},
    {"narrow f64[4,6] start=2 length=3", TSR_ERR_ARG,
     "narrow: length 3 from start 2 exceeds dim 0 of f64[4,6]@[R]"},
    {"narrow f64[4,6] start=-5 length=1", TSR_ERR_ARG,
     "narrow: length 1 from start -5 exceeds dim 0 of f64[4,6]@[R]"},
    {"narrow f64[4,6] length=-1", TSR_ERR_ARG,
     "narrow: length -1 from start 0 exceeds dim 0 of f64[4,6]@[R]"},
    {"narrow f64[4,6] start=1", TSR_ERR_ARG, "narrow: missing required attribute length"},
    {"slice f64[4,6] step=0", TSR_ERR_ARG, "slice: step is 0, must be at least 1"},
    {"select f64[4,6] index=4", TSR_ERR_ARG,
     "select: index 4 is out of range for dim 0 of f64[4,6]@[R]"},
    {"select f64[4,6]", TSR_ERR_ARG, "select: missing required attribute index"},
    {"unfold f64[4,6] size=5", TSR_ERR_SHAPE,
     "unfold: dim 0 of f64[4,6]@[R] is shorter than size 5"},
    {"unfold f64[4,6] size=2 step=0", TSR_ERR_ARG,
     "unfold: size 2 and step 0, both must be at least 1"},
    {"diagonal f64[4,6] dim1=1 dim2=-1", TSR_ERR_ARG, "diagonal: dim1 and dim2 are both 1"},
    {"flip f64[4,6] dims=1,1", TSR_ERR_ARG, "flip: dim 1 is repeated"},
    {"roll f64[4,6] shifts=1 dims=0,1", TSR_ERR_ARG, "roll: shifts= has 1 number, dims= has 2"},
    {"roll f64[4,6]", TSR_ERR_ARG, "roll: missing required attribute shifts"},
    {"flip f64[] dims=0", TSR_ERR_SHAPE, "flip: dim 0 is out of range for a tensor without dims"},
    {"pad i32[2] before=1 after=0 value=1.5", TSR_ERR_ARG,
     "pad: value=1.5 is not an integer, which dtype i32 requires"},
    {"roll f64[4,6] shifts=1,2", TSR_ERR_ARG,
     "roll: 2 shifts without dims; without dims= only one is allowed"},
    {"pad f64[4,6] before=0,0 after=0,9223372036854775807", TSR_ERR_SHAPE,
     "pad: dim 1 is too large"},
    {"pad f64[4,6] before=9223372036854775807,0 after=0,0", TSR_ERR_SHAPE,
     "pad: dim 0 is too large"},
    {"pad_circular f64[4,6] before=0,0 after=0,9223372036854775807", TSR_ERR_SHAPE,
     "pad_circular: dim 1 is too large"},
    {"pad f64[4,6] before=1 after=1", TSR_ERR_ARG,
     "pad: before and after need a number for each of the 2 dims of f64[4,6]@[R], not 1 and 1"},
    {"pad f64[4,6] before=-3,0 after=-2,0", TSR_ERR_SHAPE,
     "pad: padding -3 before and -2 after leaves nothing of dim 0 of f64[4,6]@[R]"},
    {"pad_reflect f64[4,6] before=4,0 after=0,0", TSR_ERR_SHAPE,
     "pad_reflect: dim 0 of f64[4,6]@[R] is too short for padding 4 before and 0 after it"},
    {"pad_replicate f64[4,6] before=-1,0 after=0,0", TSR_ERR_ARG,
     "pad_replicate: padding -1 before and 0 after dim 0 must not be negative"},
    {"pad_circular f64[4,6] before=0,0 after=5,0", TSR_ERR_SHAPE,
     "pad_circular: dim 0 of f64[4,6]@[R] is too short for padding 0 before and 5 after it"},
    {"tril f64[4]", TSR_ERR_SHAPE, "tril: needs at least 2 dims, not f64[4]@[R]"},
    {"slice_backward f64[4,6] step=2 length=6", TSR_ERR_SHAPE,
     "slice_backward: dim 0 of f64[4,6]@[R] does not match an input of length 6"},
    {"unfold_backward f64[4,6] size=5 length=9", TSR_ERR_SHAPE,
     "unfold_backward: the last dim of f64[4,6]@[R] does not have size 5"},
    {"split f64[4,6] sizes=1,2", TSR_ERR_SHAPE,
     "split: 2 sizes sum to 3, not to dim 0 of f64[4,6]@[R]"},
    {"split f64[4,6] sizes=5,-1", TSR_ERR_ARG, "split: size -1 of part 1 is invalid"},
    {"split f64[4,6] sizes=1,1,1,1,0", TSR_ERR_ARG,
     "split: 5 parts, but the op returns 1 to 4; tsr_split returns any number"},
    {"chunk f64[4,6] chunks=2 chunks=3", TSR_ERR_ARG,
     "chunk: attribute chunks is given twice, chunks=2 and chunks=3"},
    {"sum f64[4,6] dims=0,1,2,3,4,5,6,7,8", TSR_ERR_PARSE,
     "sum: dims=0,1,2,3,4,5,6,7,8 has more than 8 numbers"},
    {"chunk f64[4,6] chunks=2 dim=2", TSR_ERR_SHAPE, "chunk: dim 2 is out of range -2 to 1"},
    {"chunk f64[4,6]", TSR_ERR_ARG,
     "chunk: 0 parts, but the op returns 1 to 4; tsr_chunk returns any number"},
    {"depth_to_space f64[2,6,2,2] block=2", TSR_ERR_SHAPE,
     "depth_to_space: f64[2,6,2,2]@[R] is not [n, c, h, w] with channels divisible by block 2"},
    {"space_to_depth f64[2,2,4,5] block=2", TSR_ERR_SHAPE,
     "space_to_depth: f64[2,2,4,5]@[R] is not [n, c, h, w] with rows and columns divisible by "
     "block 2"},
};

/* The typed functions that take lists. */
static tsr_status run_empty_lists(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *x = tsr_zeros(mesh, "f64[4,6]"), *holes[] = {x, NULL}, *part[2];

    (void)arg;
    CHECK(!tsr_cat(&x, 0, 0) && !tsr_stack(NULL, 0, 0));
    CHECK(tsr_mesh_status(mesh) == TSR_OK);
    CHECK(tsr_chunk(NULL, 0, 2, part) == TSR_ERR_ARG && !part[0] && !part[1]);
    CHECK(!tsr_permute(NULL, NULL, 0));
    tsr_cat(holes, 2, 0);
    CHECK(tsr_mesh_status(mesh) == TSR_ERR_ARG);
    CHECK(!strcmp(tsr_mesh_message(mesh), "cat: input 1 of its list is NULL"));
    CHECK(tsr_chunk(x, 0, 2, part) ==
          TSR_OK); /* its own status; on the mesh the first error stays */
    CHECK(tsr_mesh_status(mesh) == TSR_ERR_ARG);
    return TSR_OK;
}

/* Each says which, and that its list is NULL. */
static tsr_status no_lists(tsr_mesh *mesh, void *arg)
{
    static const char *const says[] = {
        "permute: its list of 2 numbers is NULL",     "reshape: its list of 3 numbers is NULL",
        "squeeze: its list of 1 number is NULL",      "unsqueeze: its list of 1 number is NULL",
        "expand: its list of 2 numbers is NULL",      "tile: its list of 9 numbers is NULL",
        "flip: its list of 2 numbers is NULL",        "roll: its list of 2 numbers is NULL",
        "roll: its list of 1 number is NULL",         "pad: its list of 2 numbers is NULL",
        "pad_reflect: its list of 2 numbers is NULL", "sum: its list of 1 number is NULL",
        "split: its list of 2 numbers is NULL",
    };
    const int64_t some[] = {1, 1};
    tsr_tensor *x = tsr_zeros(mesh, "f64[4,6]"), *part[2];

    (void)arg;
    for (size_t i = 0; i < sizeof says / sizeof *says; i++) {
        tsr_tensor *y = NULL;

        switch (i) {
        case 0: y = tsr_permute(x, NULL, 2); break;
        case 1: y = tsr_reshape(x, NULL, 3); break;
        case 2: y = tsr_squeeze(x, NULL, 1); break;
        case 3: y = tsr_unsqueeze(x, NULL, 1); break;
        case 4: y = tsr_expand(x, NULL, 2); break;
        case 5: y = tsr_tile(x, NULL, 9); break;
        case 6: y = tsr_flip(x, NULL, 2); break;
        case 7: y = tsr_roll(x, some, 2, NULL, 2); break;
        case 8: y = tsr_roll(x, NULL, 1, NULL, 0); break;
        case 9: y = tsr_pad(x, some, 2, NULL, 2, 0); break;
        case 10: y = tsr_pad_reflect(x, NULL, 2, some, 2); break;
        case 11: y = tsr_sum(x, NULL, 1, false); break;
        default: CHECK(tsr_split(x, 0, NULL, 2, part) == TSR_ERR_ARG); y = part[0];
        }
        CHECK(y && !tsr_tensor_ok(y) && tsr_mesh_status(mesh) == TSR_ERR_ARG);
        if (strcmp(tsr_mesh_message(mesh), says[i]) != 0) {
            fprintf(stderr, "said: %s\nwant: %s\n", tsr_mesh_message(mesh), says[i]);
            return TSR_ERR_MISMATCH;
        }
        tsr_mesh_clear_error(mesh);
    }
    CHECK(tsr_tensor_ok(tsr_sum(x, NULL, 0, false)) && tsr_tensor_ok(tsr_squeeze(x, NULL, 0)));
    CHECK(!tsr_cat(NULL, 2, 0) && !tsr_cat(NULL, 200, 0));
    return TSR_OK;
}

static void lists_that_are_null(void **state)
{
    const tsr_run_opts opts =
        RUN_OPTS(.mesh = "2", .world = TSR_WORLD_THREAD, .has_timeout = true, .timeout_ms = 60000);
    tsr_error err = {0};

    (void)state;
    if (tsr_run(&opts, no_lists, NULL, &err) != TSR_OK)
        fail_msg("%s", err.text);
}

static void bad_calls(void **state)
{
    (void)state;
    expect_bad_calls(BAD, sizeof BAD / sizeof *BAD);
}

static tsr_status expect_message(tsr_mesh *mesh, void *arg)
{
    return run_empty_lists(mesh, arg) == TSR_OK ? tsr_mesh_status(mesh) : TSR_ERR_MISMATCH;
}

static void empty_lists(void **state)
{
    tsr_error err = {0};
    const tsr_run_opts opts =
        RUN_OPTS(.mesh = "2", .world = TSR_WORLD_THREAD, .has_timeout = true, .timeout_ms = 20000);

    (void)state;
    assert_int_equal(tsr_run(&opts, expect_message, NULL, &err), TSR_ERR_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_pytorchs), cmocka_unit_test(lists_of_any_length),
        cmocka_unit_test(views_share_memory),  cmocka_unit_test(bad_calls),
        cmocka_unit_test(lists_that_are_null), cmocka_unit_test(empty_lists),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
