/* SPDX-License-Identifier: Apache-2.0 */
/* print_ops.c - what follows from the rows of ops and stands in the tree, so that people can read
   it: prototypes in tessera_ops.h, the C functions behind them, numbers of rows, and places of
   attributes, by name. Called by tools/check_ops, which compares it with the tree or writes it
   there.

     print_ops folders             the folders of src/ops/ that have families
     print_ops functions FOLDER    the functions of the families in this folder
     print_ops attrs FOLDER        the places of attributes in their rows
     print_ops ids                 numbers of all rows
     print_ops header <HEADER      the header, its printed parts anew: what stands between
                                   "make ops prints FAMILY, FAMILY:" and "end of what is printed" */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op/op_table.h"

enum { COLUMNS = 100, MOST = TSR_OP_INPUTS + TSR_OP_ATTRS + TSR_OP_OUTPUTS, NAME = 64 };

static const char IN_PLACE[] = "in place"; /* counts as a family of the folder pointwise */

typedef struct attribute {
    char name[NAME], type[NAME], value[NAME]; /* value "": no default */
    bool optional;
} attribute;

typedef enum { INPUT, ATTRIBUTE, OUTPUT } parameter_kind;

typedef struct parameter {
    parameter_kind kind;
    int index; /* of inputs, attributes or outputs */
    char name[NAME];
} parameter;

typedef struct function {
    const tsr_op *op;
    int n_inputs, n_attributes, n_parameters, n_outputs;
    char input[TSR_OP_INPUTS][NAME];
    attribute attribute[TSR_OP_ATTRS];
    parameter parameter[MOST];
} function;

static void stop(const char *format, ...)
{
    va_list args;

    fflush(stdout);
    fprintf(stderr, "print_ops: ");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n");
    exit(1);
}

/* ---- reading a row ---- */

static void copy(char to[NAME], const char *from, size_t n)
{
    if (n >= NAME)
        stop("\"%.*s\" is too long", (int)n, from);
    if (n > 0)
        memcpy(to, from, n);
    to[n] = 0;
}

/* The next item of a list that commas separate, without blanks around it; false at its end. */
static bool next_item(const char **list, char item[NAME])
{
    const char *s = *list;
    size_t n;

    s += s ? strspn(s, " ") : 0;
    if (!s || !*s)
        return false;
    n = strcspn(s, ",");
    *list = s[n] ? s + n + 1 : s + n;
    while (n > 0 && s[n - 1] == ' ')
        n--;
    copy(item, s, n);
    return true;
}

static void read_attribute(const tsr_attr_declared *from, attribute *out)
{
    copy(out->name, from->name, from->name_len);
    copy(out->type, from->type, from->type_len);
    copy(out->value, from->value, from->value_len);
    out->optional = from->optional;
}

/* "x", "dim", "*index", or "tanh:by_tanh", where the C name is another one. */
static void read_parameter(function *f, const char *text)
{
    parameter *p = &f->parameter[f->n_parameters++];
    const char *called = strchr(text, ':');
    const size_t n = strcspn(text, ":");

    copy(p->name, called ? called + 1 : text, strlen(called ? called + 1 : text));
    if (*text == '*') {
        *p = (parameter){.kind = OUTPUT, .index = ++f->n_outputs};
        copy(p->name, text + 1, strlen(text + 1));
        return;
    }
    for (int k = 0; k < f->n_inputs; k++)
        if (strlen(f->input[k]) == n && strncmp(f->input[k], text, n) == 0) {
            p->kind = INPUT;
            p->index = k;
            return;
        }
    for (int i = 0; i < f->n_attributes; i++)
        if (strlen(f->attribute[i].name) == n && strncmp(f->attribute[i].name, text, n) == 0) {
            p->kind = ATTRIBUTE;
            p->index = i;
            return;
        }
    stop("%s: params has \"%s\", which is neither an input nor an attribute", f->op->name, text);
}

static function read_row(const tsr_op *op)
{
    const char *inputs = op->inputs, *attrs = op->attrs, *params = op->params;
    function f = {.op = op};
    tsr_attr_declared attr;
    char item[NAME];

    while (next_item(&inputs, item))
        copy(f.input[f.n_inputs++], item, strcspn(item, "?*"));
    while (tsr__attr_declared(&attrs, &attr))
        read_attribute(&attr, &f.attribute[f.n_attributes++]);
    while (params && next_item(&params, item))
        read_parameter(&f, item);
    for (int k = 0; !op->params && k < f.n_inputs; k++)
        read_parameter(&f, f.input[k]);
    for (int i = 0; !op->params && i < f.n_attributes; i++)
        read_parameter(&f, f.attribute[i].name);
    return f;
}

static bool is_printed(const tsr_op *op)
{
    return !op->params || *op->params;
}

static void print_upper(const char *text)
{
    for (; *text; text++)
        putchar(toupper((unsigned char)*text));
}

/* ---- C of a function ---- */

static const struct {
    const char *type;    /* of an attribute */
    const char *c;       /* the parameter's declaration, without its name */
    const char *value;   /* what makes an attribute of it */
    const char *nothing; /* the same of one that may be left out; of a list both take its length */
} TYPES[] = {
    {"int", "int64_t ", "typed_int", "typed_optional_int"},
    {"dim", "int ", "typed_int", "typed_optional_dim"},
    {"ints", "const int64_t *", "typed_ints", "typed_optional_ints"},
    {"dims", "const int *", "typed_dims", "typed_optional_dims"},
    {"bool", "bool ", "typed_int", NULL},
    {"dtype", "tsr_dtype ", "typed_dtype", NULL},
    {"float", "double ", "typed_float", NULL},
    {"number", "double ", "tsr__number", NULL},
    {"element", "double ", "tsr__element", NULL},
    {"seed", "uint64_t ", "tsr__seed", NULL},
    {"mean|sum|none", "tsr_loss_reduction ", "typed_int", NULL},
};

static size_t type_of(const function *f, const attribute *a)
{
    for (size_t t = 0; t < sizeof TYPES / sizeof *TYPES; t++)
        if (strcmp(TYPES[t].type, a->type) == 0 && (!a->optional || TYPES[t].nothing))
            return t;
    stop("%s: there is no C type for attribute %s of type %s%s", f->op->name, a->name, a->type,
         a->optional ? "?" : "");
    return 0;
}

static bool is_list(const attribute *a)
{
    return strcmp(a->type, "ints") == 0 || strcmp(a->type, "dims") == 0;
}

/* On one line: tools/check_ops lays out what is printed. */
static void print_declaration(const function *f, const char *before)
{
    printf("%stsr_tensor *tsr_%s(", before, f->op->name);
    for (int i = 0; i < f->n_parameters; i++) {
        const parameter *p = &f->parameter[i];
        const attribute *a = p->kind == ATTRIBUTE ? &f->attribute[p->index] : NULL;
        const bool pointer = a && a->optional && !is_list(a);

        printf("%s%s%s%s%s", i ? ", " : "", pointer ? "const " : "",
               a ? TYPES[type_of(f, a)].c : "tsr_tensor *", pointer || p->kind == OUTPUT ? "*" : "",
               p->name);
        if (a && is_list(a))
            printf(", int n_%s", p->name);
    }
    printf(")");
}

static const char *parameter_of(const function *f, int attribute_index)
{
    for (int i = 0; i < f->n_parameters; i++)
        if (f->parameter[i].kind == ATTRIBUTE && f->parameter[i].index == attribute_index)
            return f->parameter[i].name;
    return NULL;
}

static void print_value(const function *f, int i)
{
    const attribute *a = &f->attribute[i];
    const char *name = parameter_of(f, i);
    const size_t t = type_of(f, a);
    const char *make = a->optional ? TYPES[t].nothing : TYPES[t].value;

    if (!name && !*a->value)
        printf("typed_none()");
    else if (is_list(a) && name)
        printf("%s(%s, n_%s)", make, name, name);
    else
        printf("%s(%s)", make, name ? name : a->value);
}

static void print_function(const tsr_op *op)
{
    const function f = read_row(op);
    bool lists = false;

    for (int i = 0; i < f.n_attributes; i++)
        lists |= is_list(&f.attribute[i]);
    printf("\n");
    print_declaration(&f, "");
    printf("\n{\n");
    if (f.n_outputs)
        printf("tsr_tensor *out[TSR_MAX_OUT] = {NULL};\n");
    if (f.n_attributes) {
        printf("const tsr_attr attrs[] = {");
        for (int i = 0; i < f.n_attributes; i++) {
            printf("%s", i ? ", " : "");
            print_value(&f, i);
        }
        printf("};\n");
    }
    if (f.n_outputs || f.n_attributes)
        printf("\n");
    printf("%stsr__dispatch_%s(TSR_ID_", f.n_outputs ? "" : "return ", lists ? "lists" : "typed");
    print_upper(op->name);
    printf(", ");
    if (f.n_inputs == 1)
        printf("&%s, 1, ", f.parameter[0].name);
    else {
        printf("(tsr_tensor *[]){");
        for (int k = 0; k < f.n_inputs; k++)
            printf("%s%s", k ? ", " : "", f.input[k]);
        printf("}, %d, ", f.n_inputs);
    }
    printf("%s, ", f.n_attributes ? "attrs" : "NULL");
    if (lists)
        printf("%d, ", f.n_attributes);
    printf("%s);\n", f.n_outputs ? "out" : "NULL");
    for (int i = 0; i < f.n_parameters; i++)
        if (f.parameter[i].kind == OUTPUT)
            printf("if (%s)\n*%s = out[%d];\n", f.parameter[i].name, f.parameter[i].name,
                   f.parameter[i].index);
    printf("%s}\n", f.n_outputs ? "return out[0];\n" : "");
}

/* ---- families ---- */

/* Calls what for each row of the families of a folder, or of a family by its name; by_hand: also of
   those whose functions are written by hand. How many families there were. */
static int for_rows(const char *folder, const char *name, bool by_hand,
                    void (*what)(const tsr_op *))
{
    int n = 0;

    for (const tsr_family *family = tsr__op_families(); family->rows; family++)
        if ((by_hand || !family->by_hand) && ((folder && strcmp(family->folder, folder) == 0) ||
                                              (name && strcmp(family->name, name) == 0))) {
            n++;
            for (const tsr_op *op = family->rows; op->name; op++)
                what(op);
        }
    if ((folder && strcmp(folder, "pointwise") == 0) || (name && strcmp(name, IN_PLACE) == 0)) {
        n++;
        for (const tsr_op *op = tsr__op_unlisted(); op->name; op++)
            what(op);
    }
    return n;
}

static void print_folders(void)
{
    const char *last = "";

    for (const tsr_family *family = tsr__op_families(); family->rows; family++) {
        bool seen = false;
        for (const tsr_family *f = tsr__op_families(); f != family; f++)
            seen |= strcmp(f->folder, family->folder) == 0;
        if (!seen && strcmp(family->folder, last) != 0)
            printf("%s\n", family->folder);
        last = family->folder;
    }
}

static int printed; /* functions, or rows with attributes, so far */

static void function_of(const tsr_op *op)
{
    if (!is_printed(op))
        return;
    if (printed++ == 0)
        printf("#include \"dispatch/typed_attr.h\"\n#include \"op/element_attr.h\"\n"
               "#include \"ops/op_ids.h\"\n#include \"tessera_ops.h\"\n");
    print_function(op);
}

static void print_functions(const char *folder)
{
    printf("/* SPDX-License-Identifier: Apache-2.0 */\n"
           "/* %s_functions.c - printed by make ops from the rows: functions of\n"
           "   tessera_ops.h that hand their arguments to dispatch. */\n",
           folder);
    for_rows(folder, NULL, false, function_of);
}

static void attrs_of(const tsr_op *op)
{
    const function f = read_row(op);
    const size_t n = strlen(op->name), suffix = strlen("_inplace");

    if (!f.n_attributes || (n > suffix && strcmp(op->name + n - suffix, "_inplace") == 0))
        return;
    printed++;
    printf("\n/* %s */\nenum { ", op->name);
    for (int i = 0; i < f.n_attributes; i++) {
        printf("TSR_ATTR_");
        print_upper(op->name);
        printf("_");
        print_upper(f.attribute[i].name);
        printf("%s", i < f.n_attributes - 1 ? ", " : " };\n");
    }
}

static void print_attrs(const char *folder)
{
    printf("/* SPDX-License-Identifier: Apache-2.0 */\n"
           "/* %s_attrs.h - printed by make ops from the rows: where attributes are, by\n"
           "   name. In-place forms have those of their ops. */\n#ifndef TSR_OPS_",
           folder);
    print_upper(folder);
    printf("_ATTRS_H\n#define TSR_OPS_");
    print_upper(folder);
    printf("_ATTRS_H\n");
    for_rows(folder, NULL, true, attrs_of);
    printf("\n#endif\n");
}

static void print_ids(void)
{
    printf(
        "/* SPDX-License-Identifier: Apache-2.0 */\n"
        "/* op_ids.h - printed by make ops: the number of each row, in the order of families.c,\n"
        "   in-place forms last. They change when rows come in: not for files or messages. */\n"
        "#ifndef TSR_OPS_OP_IDS_H\n#define TSR_OPS_OP_IDS_H\n\nenum {\n");
    for (int id = 0; id < tsr__op_total(); id++) {
        printf("TSR_ID_");
        print_upper(tsr__op_by_id(id)->name);
        printf(",\n");
    }
    printf("};\n\n#endif\n");
}

/* ---- the header ---- */

/* The row's sentence as a comment, broken between words. */
static void print_comment(const char *text)
{
    int column = printf("/*");
    const char *word = text;

    while (*word) {
        const int n = (int)strcspn(word, " ");
        const bool last = !word[n];
        if (column + 1 + n + (last ? 3 : 0) > COLUMNS) {
            printf("\n  ");
            column = 2;
        }
        column += printf(" %.*s", n, word);
        word += n + strspn(word + n, " ");
    }
    printf(" */\n");
}

static void prototype_of(const tsr_op *op)
{
    const function f = read_row(op);

    if (!is_printed(op))
        return;
    if (!op->inplace)
        print_comment(op->doc);
    print_declaration(&f, "TSR_API ");
    printf(";\n");
}

static const char BEGIN[] = "/* make ops prints ", END[] = "/* end of what is printed */";

static void print_families(char *line)
{
    const char *p = line + strlen(BEGIN);
    char name[NAME];

    line[strcspn(line, ":")] = 0;
    while (next_item(&p, name))
        if (for_rows(NULL, name, false, prototype_of) == 0)
            stop("the header names the family \"%s\", and there is none of that name", name);
}

static void print_header(void)
{
    char line[1024];
    bool skipping = false;

    while (fgets(line, sizeof line, stdin)) {
        const bool end = strncmp(line, END, strlen(END)) == 0;

        if (!skipping || end)
            fputs(line, stdout);
        if (end)
            skipping = false;
        if (!skipping && strncmp(line, BEGIN, strlen(BEGIN)) == 0) {
            print_families(line);
            skipping = true;
        }
    }
    if (skipping)
        stop("the header has no line \"%s\" behind the last one that begins with \"%s\"", END,
             BEGIN);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (argc == 2 && strcmp(what, "folders") == 0)
        print_folders();
    else if (argc == 2 && strcmp(what, "header") == 0)
        print_header();
    else if (argc == 2 && strcmp(what, "ids") == 0)
        print_ids();
    else if (argc == 3 && strcmp(what, "functions") == 0)
        print_functions(argv[2]);
    else if (argc == 3 && strcmp(what, "attrs") == 0)
        print_attrs(argv[2]);
    else
        stop("usage: print_ops folders | header | ids | functions FOLDER | attrs FOLDER");
    return printed == 0 && argc == 3 ? 3 : 0;
}
