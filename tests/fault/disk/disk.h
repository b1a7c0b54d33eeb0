/* A disk that can fail, as a VFS of SQLite over the real one.
 *
 * It remembers of each file what is durable (written and synced) and what was written since. Programs read
 * what was written, as from a page cache. When the power is cut, every further operation fails; disk_image()
 * then makes the files that a machine would find after the cut: of what was not synced nothing, everything,
 * or some of it, whole writes or sectors of 512 bytes of them, as chance has it. It can also be full for a
 * while, fail once, or not be read for a while. A sync that fails loses some of what it should have made
 * durable for ever, as Linux does.
 *
 * One thread. Files of other names are left to the real VFS. */
#ifndef BOXCAR_TESTS_DISK_H
#define BOXCAR_TESTS_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum disk_harm { DISK_SOUND, DISK_POWER_CUT, DISK_FULL, DISK_ERROR, DISK_READ_ERROR, DISK_HARMS };

struct disk_plan {
    enum disk_harm harm;
    int64_t at; /* the operation (write, truncate, sync, delete; or read; from 1 on) that it begins with */
    int64_t length; /* for how many operations it lasts; a power cut lasts */
    uint64_t seed;
};

/* Makes the VFS SQLite's default one, with an empty memory. disk_stop() restores the real one, disk_end()
 * forgets. */
void disk_begin(const struct disk_plan *plan);
void disk_stop(void);
void disk_end(void);
/* So far: those that this harm is counted by. */
int64_t disk_operations(enum disk_harm harm);
bool disk_was_harmed(void);

enum disk_rest { DISK_NOTHING, DISK_EVERYTHING, DISK_SOME_WRITES, DISK_SOME_SECTORS, DISK_RESTS };
/* Writes the file `path`, and those next to it whose names begin so, as they may be after the cut, to `copy`.
 */
void disk_image(const char *path, const char *copy, enum disk_rest rest, uint64_t seed);

/* Chance, the same for the same seed. */
uint64_t disk_random(uint64_t *state);

#endif
