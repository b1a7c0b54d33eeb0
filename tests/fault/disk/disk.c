#include "disk.h"

#include <err.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECTOR 512
#define FILES_MAX 16

/* One operation that is not durable yet. */
enum operation { WRITE, TRUNCATE, DELETE };
struct pending {
    enum operation kind;
    int64_t offset; /* TRUNCATE: the new size */
    size_t size;
    char *data;
};

struct disk_file {
    char *path;
    bool is_durable; /* its name is there after a cut */
    char *data;      /* what is durable of it */
    size_t size;
    struct pending *pending;
    size_t count, capacity;
};

static struct {
    struct disk_plan plan;
    uint64_t random;
    int64_t operations, reads;
    bool harmed;
    struct disk_file files[FILES_MAX];
    size_t count;
    sqlite3_vfs *real;
    sqlite3_vfs vfs;
} disk;

uint64_t disk_random(uint64_t *state) { /* splitmix64 */
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

int64_t disk_operations(enum disk_harm harm) {
    return harm == DISK_READ_ERROR ? disk.reads : disk.operations;
}
bool disk_was_harmed(void) { return disk.harmed; }

static void *must(void *memory) {
    if (memory == NULL)
        err(99, "out of memory");
    return memory;
}

/* ---- what is durable ---- */

static struct disk_file *file_of(const char *path) {
    for (size_t i = 0; i < disk.count; i++)
        if (strcmp(disk.files[i].path, path) == 0)
            return &disk.files[i];
    if (disk.count == FILES_MAX)
        errx(99, "too many files");
    disk.files[disk.count] = (struct disk_file){.path = must(strdup(path))};
    return &disk.files[disk.count++];
}

static void remember(struct disk_file *file, enum operation kind, int64_t offset, const void *data,
                     size_t size) {
    struct pending *op;

    if (file->count == file->capacity) {
        file->capacity = file->capacity ? file->capacity * 2 : 64;
        file->pending = must(reallocarray(file->pending, file->capacity, sizeof(*file->pending)));
    }
    op = &file->pending[file->count++];
    *op = (struct pending){.kind = kind, .offset = offset, .size = size};
    if (data != NULL) {
        op->data = must(malloc(size + 1));
        memcpy(op->data, data, size);
    }
}

static void forget_pending(struct disk_file *file) {
    for (size_t i = 0; i < file->count; i++)
        free(file->pending[i].data);
    file->count = 0;
}

struct bytes {
    char *data;
    size_t size;
    bool exists;
};

static void put(struct bytes *bytes, int64_t offset, const char *data, size_t size) {
    size_t end = (size_t)offset + size;

    bytes->exists = true;
    if (end > bytes->size) {
        bytes->data = must(realloc(bytes->data, end));
        memset(bytes->data + bytes->size, 0, end - bytes->size);
        bytes->size = end;
    }
    memcpy(bytes->data + offset, data, size);
}

static void put_some_sectors(struct bytes *bytes, const struct pending *op, uint64_t *random) {
    for (size_t at = 0; at < op->size;) {
        size_t room = SECTOR - (size_t)((op->offset + (int64_t)at) % SECTOR);
        size_t size = room < op->size - at ? room : op->size - at;
        if (disk_random(random) & 1)
            put(bytes, op->offset + (int64_t)at, op->data + at, size);
        at += size;
    }
}

static bool is_dropped(const struct pending *op, enum disk_rest rest, uint64_t *random) {
    if (rest == DISK_SOME_SECTORS && op->kind == WRITE)
        return false;
    return rest == DISK_NOTHING || (rest != DISK_EVERYTHING && disk_random(random) & 1);
}

static void apply(struct bytes *bytes, const struct pending *op, enum disk_rest rest, uint64_t *random) {
    if (is_dropped(op, rest, random))
        return;
    if (op->kind == TRUNCATE)
        bytes->size = (size_t)op->offset < bytes->size ? (size_t)op->offset : bytes->size;
    else if (op->kind == DELETE)
        *bytes = (struct bytes){.data = bytes->data};
    else if (rest == DISK_SOME_SECTORS)
        put_some_sectors(bytes, op, random);
    else
        put(bytes, op->offset, op->data, op->size);
}

/* The first `count` operations. */
static void settle(struct disk_file *file, size_t count) {
    struct bytes bytes = {file->data, file->size, file->is_durable};

    for (size_t i = 0; i < count; i++) {
        apply(&bytes, &file->pending[i], DISK_EVERYTHING, NULL);
        free(file->pending[i].data);
    }
    file->count -= count;
    if (file->count > 0)
        memmove(file->pending, file->pending + count, file->count * sizeof(*file->pending));
    file->data = bytes.data;
    file->size = bytes.size;
    file->is_durable = bytes.exists;
}

static void make_durable(struct disk_file *file) {
    settle(file, file->count);
    file->is_durable = true;
}

/* Names that are gone stay so once their folder is synced. */
static void sync_folder(void) {
    for (size_t i = 0; i < disk.count; i++) {
        size_t last = disk.files[i].count;
        while (last > 0 && disk.files[i].pending[last - 1].kind != DELETE)
            last--;
        settle(&disk.files[i], last);
    }
}

/* What a failed sync dropped is clean for the kernel: no later sync writes it. */
static void lose_some(struct disk_file *file) {
    size_t kept = 0;

    for (size_t i = 0; i < file->count; i++) {
        if (disk_random(&disk.random) & 1)
            free(file->pending[i].data);
        else
            file->pending[kept++] = file->pending[i];
    }
    file->count = kept;
}

/* ---- harm ---- */

/* The harm that the `now`th operation comes to. */
static enum disk_harm harm_at(int64_t now) {
    const struct disk_plan *plan = &disk.plan;
    bool is_hit = now >= plan->at && (plan->harm == DISK_POWER_CUT || now < plan->at + plan->length);

    if (plan->harm == DISK_SOUND || !is_hit)
        return DISK_SOUND;
    disk.harmed = true;
    return plan->harm;
}

static enum disk_harm next_harm(void) {
    disk.operations++;
    return disk.plan.harm == DISK_READ_ERROR ? DISK_SOUND : harm_at(disk.operations);
}

static bool can_read(void) {
    disk.reads++;
    return disk.plan.harm != DISK_READ_ERROR || harm_at(disk.reads) == DISK_SOUND;
}

static bool has_power(void) { return !(disk.harmed && disk.plan.harm == DISK_POWER_CUT); }

/* ---- a file ---- */

struct handle {
    sqlite3_file base;
    struct disk_file *file; /* NULL: a temporary one */
    bool is_new_journal;    /* its first sync is one of the folder too, as in SQLite's VFS */
    sqlite3_file *real;     /* behind this struct */
};

#define REAL(file) (((struct handle *)(file))->real)

static int file_close(sqlite3_file *file) { return REAL(file)->pMethods->xClose(REAL(file)); }

static int file_read(sqlite3_file *file, void *data, int size, sqlite3_int64 offset) {
    return can_read() && has_power() ? REAL(file)->pMethods->xRead(REAL(file), data, size, offset)
                                     : SQLITE_IOERR_READ;
}

static int write_through(struct handle *handle, const void *data, int size, sqlite3_int64 offset) {
    int rc = REAL(handle)->pMethods->xWrite(REAL(handle), data, size, offset);

    if (rc == SQLITE_OK && handle->file != NULL)
        remember(handle->file, WRITE, offset, data, (size_t)size);
    return rc;
}

/* Without power, or with an error, a part of it may have been written. */
static int file_write(sqlite3_file *file, const void *data, int size, sqlite3_int64 offset) {
    struct handle *handle = (struct handle *)file;
    bool had_power = has_power();
    enum disk_harm harm = next_harm();
    int part = size;

    if (!had_power)
        return SQLITE_IOERR_WRITE;
    if (harm != DISK_SOUND)
        part = (int)(disk_random(&disk.random) % (uint64_t)(size + 1));
    if (part > 0 && write_through(handle, data, part, offset) != SQLITE_OK)
        return SQLITE_IOERR_WRITE;
    return harm == DISK_SOUND ? SQLITE_OK : harm == DISK_FULL ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
    struct handle *handle = (struct handle *)file;
    enum disk_harm harm = next_harm();
    int rc;

    if (harm == DISK_POWER_CUT || harm == DISK_ERROR)
        return SQLITE_IOERR_TRUNCATE;
    rc = REAL(file)->pMethods->xTruncate(REAL(file), size);
    if (rc == SQLITE_OK && handle->file != NULL)
        remember(handle->file, TRUNCATE, size, NULL, 0);
    return rc;
}

/* Nothing is synced to the real disk: the process does not crash. */
static int file_sync(sqlite3_file *file, int flags) {
    struct handle *handle = (struct handle *)file;
    enum disk_harm harm = next_harm();

    (void)flags;
    if (harm == DISK_POWER_CUT)
        return SQLITE_IOERR_FSYNC;
    if (handle->file == NULL)
        return SQLITE_OK;
    if (harm == DISK_ERROR) {
        lose_some(handle->file);
        return SQLITE_IOERR_FSYNC;
    }
    make_durable(handle->file);
    if (handle->is_new_journal)
        sync_folder();
    handle->is_new_journal = false;
    return SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *ret_size) {
    return REAL(file)->pMethods->xFileSize(REAL(file), ret_size);
}
static int file_lock(sqlite3_file *file, int lock) { return REAL(file)->pMethods->xLock(REAL(file), lock); }
static int file_unlock(sqlite3_file *file, int lock) {
    return REAL(file)->pMethods->xUnlock(REAL(file), lock);
}
static int file_check_lock(sqlite3_file *file, int *ret_reserved) {
    return REAL(file)->pMethods->xCheckReservedLock(REAL(file), ret_reserved);
}
static int file_control(sqlite3_file *file, int op, void *argument) {
    return REAL(file)->pMethods->xFileControl(REAL(file), op, argument);
}
static int file_sector_size(sqlite3_file *file) { return REAL(file)->pMethods->xSectorSize(REAL(file)); }
static int file_characteristics(sqlite3_file *file) {
    return REAL(file)->pMethods->xDeviceCharacteristics(REAL(file));
}
static int file_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **ret_map) {
    return REAL(file)->pMethods->xShmMap(REAL(file), page, size, extend, ret_map);
}
static int file_shm_lock(sqlite3_file *file, int offset, int n, int flags) {
    return REAL(file)->pMethods->xShmLock(REAL(file), offset, n, flags);
}
static void file_shm_barrier(sqlite3_file *file) { REAL(file)->pMethods->xShmBarrier(REAL(file)); }
static int file_shm_unmap(sqlite3_file *file, int delete_it) {
    return REAL(file)->pMethods->xShmUnmap(REAL(file), delete_it);
}

static const sqlite3_io_methods METHODS = {
    .iVersion = 2, /* none of version 3: no memory-mapped reads */
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_lock,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

/* ---- the VFS ---- */

static int vfs_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *ret_flags) {
    struct handle *handle = (struct handle *)file;
    int rc;

    (void)vfs;
    *handle = (struct handle){.real = (sqlite3_file *)(handle + 1)};
    if (!has_power())
        return SQLITE_CANTOPEN;
    rc = disk.real->xOpen(disk.real, name, handle->real, flags, ret_flags);
    if (rc != SQLITE_OK)
        return rc;
    handle->base.pMethods = &METHODS;
    if (name != NULL && !(flags & SQLITE_OPEN_DELETEONCLOSE))
        handle->file = file_of(name);
    handle->is_new_journal =
        flags & SQLITE_OPEN_CREATE && flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL);
    return SQLITE_OK;
}

/* A name that is gone comes back after a cut, unless its folder was synced. */
static int vfs_delete(sqlite3_vfs *vfs, const char *name, int with_folder) {
    enum disk_harm harm = next_harm();
    int rc;

    (void)vfs;
    if (harm == DISK_POWER_CUT || harm == DISK_ERROR)
        return SQLITE_IOERR_DELETE;
    rc = disk.real->xDelete(disk.real, name, 0);
    if (rc != SQLITE_OK)
        return rc;
    remember(file_of(name), DELETE, 0, NULL, 0);
    if (with_folder)
        sync_folder();
    return SQLITE_OK;
}

void disk_begin(const struct disk_plan *plan) {
    sqlite3_vfs *real = sqlite3_vfs_find("unix");

    if (real == NULL)
        errx(99, "SQLite has no VFS named unix");
    disk.plan = *plan;
    disk.random = plan->seed;
    disk.operations = disk.reads = 0;
    disk.harmed = false;
    disk.real = real;
    disk.vfs = *real;
    disk.vfs.zName = "boxcar-test-disk";
    disk.vfs.pNext = NULL;
    disk.vfs.szOsFile = (int)sizeof(struct handle) + real->szOsFile;
    disk.vfs.xOpen = vfs_open;
    disk.vfs.xDelete = vfs_delete;
    if (sqlite3_vfs_register(&disk.vfs, 1) != SQLITE_OK)
        errx(99, "cannot register the VFS");
}

void disk_stop(void) {
    sqlite3_vfs_unregister(&disk.vfs);
    sqlite3_vfs_register(disk.real, 1);
}

void disk_end(void) {
    for (size_t i = 0; i < disk.count; i++) {
        forget_pending(&disk.files[i]);
        free(disk.files[i].pending);
        free(disk.files[i].data);
        free(disk.files[i].path);
    }
    disk.count = 0;
}

/* ---- after the cut ---- */

static void write_file(const char *path, struct bytes bytes) {
    FILE *out = fopen(path, "wb");

    if (out == NULL || fwrite(bytes.data, 1, bytes.size, out) != bytes.size || fclose(out) != 0)
        err(99, "%s", path);
}

static void image_of(const struct disk_file *file, const char *copy, enum disk_rest rest, uint64_t *random) {
    struct bytes bytes = {must(malloc(file->size + 1)), file->size, file->is_durable};

    if (file->size > 0)
        memcpy(bytes.data, file->data, file->size);
    for (size_t i = 0; i < file->count; i++)
        apply(&bytes, &file->pending[i], rest, random);
    if (bytes.exists)
        write_file(copy, bytes);
    free(bytes.data);
}

void disk_image(const char *path, const char *copy, enum disk_rest rest, uint64_t seed) {
    static const char *const ENDINGS[] = {"", "-wal", "-journal", "-shm"};

    for (size_t e = 0; e < sizeof(ENDINGS) / sizeof(ENDINGS[0]); e++) {
        char from[512], to[512];
        snprintf(from, sizeof(from), "%s%s", path, ENDINGS[e]);
        snprintf(to, sizeof(to), "%s%s", copy, ENDINGS[e]);
        unlink(to);
        for (size_t i = 0; i < disk.count; i++)
            if (strcmp(disk.files[i].path, from) == 0)
                image_of(&disk.files[i], to, rest, &seed);
    }
}
