/* SPDX-License-Identifier: Apache-2.0 */
/* cli_text.c - numbers as people read and write them, and names. */
#include "cli.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char *cli_bytes(double bytes, char buf[CLI_TEXT])
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    int i = 0;

    while (bytes >= 1024 && i < 6) {
        bytes /= 1024;
        i++;
    }
    if (bytes >= 1e6)
        snprintf(buf, CLI_TEXT, "%.3g %s", bytes, unit[i]);
    else if (i == 0 || (bytes < 1024 && bytes == (double)(int)bytes))
        snprintf(buf, CLI_TEXT, "%.0f %s", bytes, unit[i]);
    else
        snprintf(buf, CLI_TEXT, "%.*f %s", bytes < 10 ? 2 : 1, bytes, unit[i]);
    return buf;
}

const char *cli_seconds(double seconds, char buf[CLI_TEXT])
{
    static const char *const unit[] = {"s", "ms", "us", "ns"};
    int i = 0;

    while (i < 3 && seconds < 0.9995) {
        seconds *= 1000;
        i++;
    }
    if (seconds == 0)
        snprintf(buf, CLI_TEXT, "0");
    else if (seconds >= 1e6)
        snprintf(buf, CLI_TEXT, "%.3g s", seconds);
    else
        snprintf(buf, CLI_TEXT, "%.*f %s",
                 seconds < 10    ? 2
                 : seconds < 100 ? 1
                                 : 0,
                 seconds, unit[i]);
    return buf;
}

bool cli_bytes_parse(const char *text, size_t n, int64_t *out)
{
    static const char *const unit[] = {"", "k", "m", "g", "t"};
    int64_t value = 0, scale = 1;
    size_t i = 0, letters;

    while (i < n && isdigit((unsigned char)text[i])) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, text[i] - '0', &value))
            return false;
        i++;
    }
    letters = n - i;
    if (i == 0)
        return false;
    for (int k = 0; k < 5; k++, scale *= 1024) {
        char full[8];

        snprintf(full, sizeof full, "%sib", unit[k]);
        if ((letters == strlen(unit[k]) && strncasecmp(text + i, unit[k], letters) == 0) ||
            (k > 0 && letters == 3 && strncasecmp(text + i, full, 3) == 0) ||
            (k == 0 && letters == 1 && text[i] == 'B'))
            return !__builtin_mul_overflow(value, scale, out);
    }
    return false;
}

const char *cli_world_name(tsr_world_kind world)
{
    static const char *const name[] = {"auto", "thread", "mpi", "sim"};

    return name[world];
}

const char *cli_mdim_name(const tsr_mesh_shape *mesh, int mdim, char buf[CLI_TEXT])
{
    if (mesh->name[mdim][0])
        snprintf(buf, CLI_TEXT, "%s", mesh->name[mdim]);
    else
        snprintf(buf, CLI_TEXT, "%d", mdim);
    return buf;
}

int cli_mesh_size(const tsr_mesh_shape *mesh)
{
    int n = 1;

    for (int m = 0; m < mesh->ndim; m++)
        n *= mesh->size[m];
    return n;
}

int cli_mesh_rank(const tsr_mesh_shape *mesh, int index, int coord[TSR_MAX_MESH])
{
    int rank = mesh->first;

    for (int m = mesh->ndim - 1; m >= 0; m--) {
        coord[m] = index % mesh->size[m];
        index /= mesh->size[m];
        rank += coord[m] * mesh->stride[m];
    }
    return rank;
}

json_t *cli_json_ints(const int64_t *values, int n)
{
    json_t *array = json_array();

    for (int i = 0; i < n; i++)
        json_array_append_new(array, json_integer(values[i]));
    return array;
}
