/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - runs a fuzz target on the files of a corpus, as an ordinary test: replay FOLDER...
   A broken law aborts; the last name printed is the file that did it. */
#include <dirent.h>
#include <sys/stat.h>

#include "fuzz.h"

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    struct stat info;
    size_t n = 0;

    if (!file || fstat(fileno(file), &info) != 0) {
        perror(path);
        if (file)
            fclose(file);
        return 0;
    }
    data = malloc((size_t)info.st_size + 1);
    if (data)
        n = fread(data, 1, (size_t)info.st_size, file);
    fclose(file);
    printf("%s\n", path);
    fflush(stdout);
    if (data)
        LLVMFuzzerTestOneInput(data, n);
    free(data);
    return 1;
}

/* Files of a folder, in the order of their names, so that logs can be compared. */
static int replay_folder(const char *path)
{
    struct dirent **entry;
    int n = scandir(path, &entry, NULL, alphasort), done = 0;
    char name[4096];

    if (n < 0) {
        perror(path);
        return 0;
    }
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "%s/%s", path, entry[i]->d_name);
        if (entry[i]->d_name[0] != '.')
            done += replay_file(name);
        free(entry[i]);
    }
    free(entry);
    return done;
}

int main(int argc, char **argv)
{
    int done = 0;

    for (int i = 1; i < argc; i++) {
        int n = replay_folder(argv[i]);
        if (n == 0)
            return 1; /* a corpus that is not found must not pass */
        done += n;
    }
    printf("%d inputs\n", done);
    return done == 0;
}
