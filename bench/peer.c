/* SPDX-License-Identifier: Apache-2.0 */
/* peer.c - reads a peer's files (peer.h) and finds results in them by name. A file that says which
   machine it is from is refused on another one. Called by tessera_bench.c and bench_rows.c. */
#include "peer.h"

#include "bench.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { NAME = 512 };

/* Of the file that was added last. */
static bool add_result(peer_files *peers, const char *name, double number)
{
    if (peers->n == peers->cap) {
        int cap = peers->cap ? 2 * peers->cap : 256;
        peer_result *more = realloc(peers->result, (size_t)cap * sizeof *more);

        if (!more)
            return false;
        peers->result = more;
        peers->cap = cap;
    }
    peers->result[peers->n] =
        (peer_result){strdup(name), number * 1e-3, json_array_size(peers->files) - 1};
    if (strstr(name, "_us"))
        peers->result[peers->n].seconds *= 1e-3;
    return peers->result[peers->n++].name != NULL;
}

/* All numbers below a value, with the names on the way. */
static bool add_results(peer_files *peers, const char *name, json_t *value)
{
    char below[NAME];
    const char *key;
    json_t *member;

    if (json_is_number(value))
        return add_result(peers, name, json_number_value(value));
    json_object_foreach(value, key, member)
    {
        snprintf(below, sizeof below, "%s/%s", name, key);
        if (!add_results(peers, below, member))
            return false;
    }
    return true;
}

/* What the file says of itself; if it has no date, the day it was written. */
static bool add_file(peer_files *peers, const char *path, const char *name, json_t *root)
{
    const char *machine = json_string_value(json_object_get(root, "machine"));
    const char *date = json_string_value(json_object_get(root, "date"));
    const char *peer = json_string_value(json_object_get(root, "peer"));
    const char *torch = json_string_value(json_object_get(root, "torch"));
    char here[256], text[128] = "", day[32] = "";
    struct stat info;
    struct tm tm;

    bench_machine(here);
    if (machine && strcmp(machine, here) != 0) {
        cli_bad("--peer: %s is of another machine, \"%s\"; this one is \"%s\"", path, machine,
                here);
        return false;
    }
    if (stat(path, &info) == 0 && gmtime_r(&info.st_mtime, &tm))
        strftime(day, sizeof day, "%Y-%m-%d", &tm);
    if (torch)
        snprintf(text, sizeof text, "PyTorch %s", torch);
    return json_array_append_new(peers->files,
                                 json_pack("{s:s, s:s, s:s, s:s}", "file", name, "peer",
                                           peer    ? peer
                                           : torch ? text
                                                   : name,
                                           "machine", machine ? machine : here, "date",
                                           date ? date : day)) == 0;
}

static bool read_file(peer_files *peers, const char *path)
{
    const char *slash = strrchr(path, '/');
    char name[NAME];
    json_error_t err;
    json_t *root = json_load_file(path, 0, &err);
    bool ok = true;

    if (!json_is_object(root)) {
        cli_bad("--peer: %s: %s", path, root ? "expected a JSON object" : err.text);
        json_decref(root);
        return false;
    }
    snprintf(name, sizeof name, "%s", slash ? slash + 1 : path);
    if (strlen(name) > 5 && strcmp(name + strlen(name) - 5, ".json") == 0)
        name[strlen(name) - 5] = 0;
    ok = add_file(peers, path, name, root);
    if (ok && !add_results(peers, name, root)) {
        cli_failed("out of memory");
        ok = false;
    }
    json_decref(root);
    return ok;
}

static int is_json(const struct dirent *entry)
{
    return fnmatch("*.json", entry->d_name, FNM_PERIOD) == 0;
}

/* A file, or all *.json of a folder in the order of their names. */
static bool read_path(peer_files *peers, const char *path)
{
    struct dirent **entries;
    struct stat info;
    bool ok = true;
    int n;

    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return read_file(peers, path);
    n = scandir(path, &entries, is_json, alphasort);
    if (n < 0) {
        cli_bad("--peer: %s: %s", path, strerror(errno));
        return false;
    }
    for (int i = 0; i < n; i++) {
        char file[4096];

        snprintf(file, sizeof file, "%s/%s", path, entries[i]->d_name);
        ok = ok && read_file(peers, file);
        free(entries[i]);
    }
    free(entries);
    return ok;
}

bool peer_open(const char *list, peer_files *out)
{
    char *copy = strdup(list ? list : ""), *rest;
    bool ok = copy != NULL;

    *out = (peer_files){.files = json_array()};
    for (char *p = ok ? strtok_r(copy, ",", &rest) : NULL; p && ok; p = strtok_r(NULL, ",", &rest))
        ok = read_path(out, p);
    free(copy);
    return ok;
}

void peer_close(peer_files *peers)
{
    for (int i = 0; i < peers->n; i++)
        free(peers->result[i].name);
    free(peers->result);
    json_decref(peers->files);
}

double peer_seconds(const peer_files *peers, const char *pattern)
{
    for (int i = 0; i < peers->n; i++) {
        const peer_result *r = &peers->result[i];

        if (fnmatch(pattern, r->name, 0) == 0) {
            json_object_set_new(json_array_get(peers->files, r->file), "used", json_true());
            return r->seconds;
        }
    }
    return 0;
}
