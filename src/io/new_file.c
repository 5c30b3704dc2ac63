/* SPDX-License-Identifier: Apache-2.0 */
/* new_file.c - temporary files and renaming. A temporary file in use is locked by flock, which ends
   with its process: one that can be locked belongs to nobody any more. Called by npy_save.c. */
#include "io/new_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

enum { TRIES = 100, MAX_LINKS = 40 };

/* Where the file name begins. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (size_t)(slash - path) + 1 : 0;
}

static const char *folder_of(const char *path, char buf[PATH_MAX])
{
    snprintf(buf, PATH_MAX, "%.*s", (int)folder_length(path), path);
    return buf[0] ? buf : ".";
}

/* Follows links by hand, for realpath wants the last one to lead to a file. */
static tsr_status find_target(const char *path, char target[TSR_TARGET_LEN], tsr_error *err)
{
    char link[PATH_MAX];
    struct stat info;

    if (strlen(path) >= TSR_TARGET_LEN)
        return tsr__fail(err, TSR_ERR_IO, "cannot write %.100s...: %s", path,
                         tsr__errno_text(ENAMETOOLONG));
    strcpy(target, path);
    for (int i = 0; lstat(target, &info) == 0 && S_ISLNK(info.st_mode); i++) {
        ssize_t n = readlink(target, link, sizeof link - 1);
        size_t at = folder_length(target);

        if (i == MAX_LINKS)
            n = -1, errno = ELOOP;
        else if (n >= 0 && at + (size_t)n >= TSR_TARGET_LEN)
            n = -1, errno = ENAMETOOLONG;
        if (n < 0)
            return tsr__fail(err, TSR_ERR_IO, "cannot follow the link %s: %s", path,
                             tsr__errno_text(errno));
        link[n] = 0;
        strcpy(link[0] == '/' ? target : target + at, link);
    }
    return TSR_OK;
}

/* Is this "NAME.tmp.PID.NUMBER"? */
static bool is_temporary_of(const char *entry, const char *name)
{
    const size_t n = strlen(name);

    if (strncmp(entry, name, n) != 0 || strncmp(entry + n, ".tmp.", 5) != 0)
        return false;
    entry += n + 5;
    for (int i = 0; i < 2; i++) {
        const size_t digits = strspn(entry, "0123456789");
        if (digits == 0 || entry[digits] != (i == 0 ? '.' : 0))
            return false;
        entry += digits + 1;
    }
    return true;
}

/* Temporary files that nobody has locked. Failing to remove one is no failure of the save. */
static void remove_abandoned(const char *target)
{
    char folder[PATH_MAX];
    DIR *dir = opendir(folder_of(target, folder));

    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        int fd;

        if (!is_temporary_of(entry->d_name, target + folder_length(target)))
            continue;
        fd = openat(dirfd(dir), entry->d_name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
            unlinkat(dirfd(dir), entry->d_name, 0);
        if (fd >= 0)
            close(fd);
    }
    if (dir)
        closedir(dir);
}

/* Did another save take the file for an abandoned one, before it was locked? Where files cannot be
   locked, no save removes any. */
static bool lock_file(tsr_new_file *file)
{
    struct stat info;

    file->lock = fcntl(file->fd, F_DUPFD_CLOEXEC, 0); /* the lock outlives the writing */
    if (file->lock >= 0 && flock(file->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return false;
    return fstat(file->fd, &info) != 0 || info.st_nlink > 0;
}

static void close_both(tsr_new_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    if (file->lock >= 0)
        close(file->lock);
    file->fd = file->lock = -1;
}

tsr_status tsr__new_file_open(tsr_new_file *file, const char *path, tsr_error *err)
{
    struct stat info;
    tsr_status st;

    *file = (tsr_new_file){.fd = -1, .lock = -1};
    TSR_TRY(find_target(path, file->target, err));
    file->exists = stat(file->target, &info) == 0;
    if (file->exists && !S_ISREG(info.st_mode))
        TSR_TRY(tsr__fail(err, TSR_ERR_IO, "cannot replace %s: it is not a regular file", path));
    file->mode = file->exists ? info.st_mode & 07777 : 0666;
    remove_abandoned(file->target);
    for (int number = 0; file->fd < 0; number++) {
        snprintf(file->temporary, sizeof file->temporary, "%s.tmp.%d.%d", file->target,
                 (int)getpid(), number);
        /* what replaces a private file is private from the beginning */
        file->fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                        file->exists ? 0600 : file->mode);
        if (file->fd < 0 && (errno != EEXIST || number == TRIES))
            TSR_TRY(tsr__fail(err, TSR_ERR_IO, "cannot create %s: %s", file->temporary,
                              tsr__errno_text(errno)));
        if (file->fd >= 0 && !lock_file(file))
            close_both(file);
    }
    file->created = true;
done:
    return st;
}

tsr_status tsr__new_file_replace(tsr_new_file *file, tsr_error *err)
{
    char folder[PATH_MAX];
    int fd;

    if (file->exists && chmod(file->temporary, file->mode) != 0)
        return tsr__fail(err, TSR_ERR_IO, "cannot give %s the mode of %s: %s", file->temporary,
                         file->target, tsr__errno_text(errno));
    if (rename(file->temporary, file->target) != 0)
        return tsr__fail(err, TSR_ERR_IO, "cannot rename %s to %s: %s", file->temporary,
                         file->target, tsr__errno_text(errno));
    file->created = false;
    fd = open(folder_of(file->target, folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd); /* not all systems can; the data is safe in any case */
        close(fd);
    }
    return TSR_OK;
}

void tsr__new_file_close(tsr_new_file *file)
{
    if (file->created)
        unlink(file->temporary);
    file->created = false;
    close_both(file);
}
