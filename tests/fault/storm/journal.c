#include "journal.h"

#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool journal_open(struct journal *journal, const char *directory, int number) {
    char path[512];
    snprintf(path, sizeof(path), "%s/%06d.journal", directory, number);
    *journal = (struct journal){.fd = open(path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600)};
    return journal->fd >= 0;
}

void journal_add(struct journal *journal, struct record record) {
    if (journal->count == journal->room) {
        journal->room = journal->room > 0 ? 2 * journal->room : 256;
        journal->records = realloc(journal->records, journal->room * sizeof(record));
        if (!journal->records)
            err(99, "journal");
    }
    journal->records[journal->count++] = record;
}

/* One write for all of them; a part of it counts as nothing only when we are killed in its middle. */
void journal_flush(struct journal *journal) {
    const char *bytes = (const char *)journal->records;
    size_t left = journal->count * sizeof(struct record);
    while (left > 0) {
        ssize_t written = write(journal->fd, bytes, left);
        if (written < 0)
            err(99, "journal");
        bytes += written;
        left -= (size_t)written;
    }
    journal->count = 0;
}

void journal_close(struct journal *journal) {
    journal_flush(journal);
    free(journal->records);
    close(journal->fd);
}

struct pile {
    struct record *records;
    size_t count;
};

static void read_one(struct pile *pile, const char *path) {
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &about) != 0)
        err(99, "%s", path);
    /* The last record of a client that was killed while writing may be incomplete. */
    size_t wanted = (size_t)about.st_size / sizeof(struct record);
    pile->records = realloc(pile->records, (pile->count + wanted + 1) * sizeof(struct record));
    if (!pile->records)
        err(99, "%s", path);
    char *end = (char *)(pile->records + pile->count);
    for (size_t left = wanted * sizeof(struct record); left > 0;) {
        ssize_t got = read(fd, end, left);
        if (got <= 0)
            err(99, "%s", path);
        end += got;
        left -= (size_t)got;
    }
    pile->count += wanted;
    close(fd);
}

struct record *journal_read_all(const char *directory, size_t *ret_count) {
    struct pile pile = {0};
    DIR *entries = opendir(directory);
    if (!entries)
        err(99, "%s", directory);
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        char path[600];
        const char *ending = strrchr(entry->d_name, '.');
        if (!ending || strcmp(ending, ".journal") != 0)
            continue;
        snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
        read_one(&pile, path);
    }
    closedir(entries);
    *ret_count = pile.count;
    return pile.records;
}
