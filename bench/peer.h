/* SPDX-License-Identifier: Apache-2.0 */
/* peer.h - times of a peer, from files that its own run wrote on this machine. docs/performance.md
   describes them: JSON objects, nested at will; each number in them is a result in milliseconds, or
   in microseconds if a name on its way contains "_us". Its name are the names on the way, joined by
   slashes, with the file's own before them. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <jansson.h>
#include <stdbool.h>

typedef struct peer_result {
    char *name;
    double seconds;
    size_t file; /* index in files */
} peer_result;

typedef struct peer_files {
    int n, cap;
    peer_result *result;
    json_t *files; /* of each: file, peer, machine, date, and used: a result was found in it */
} peer_files;

/* A list of files and folders, "a.json,out"; NULL: none. false: a sentence was printed. */
bool peer_open(const char *list, peer_files *out);
void peer_close(peer_files *peers);
/* Seconds of the result whose name the pattern of fnmatch describes, 0 if there is none. */
double peer_seconds(const peer_files *peers, const char *pattern);

#endif
