#include <err.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

struct fuzz_file fuzz_file_make(const uint8_t *data, size_t size) {
    struct fuzz_file file = {.fd = memfd_create("fuzz", MFD_CLOEXEC)};

    if (file.fd < 0 || write(file.fd, data, size) != (ssize_t)size)
        err(99, "memfd_create");
    snprintf(file.path, sizeof(file.path), "/proc/self/fd/%d", file.fd);
    return file;
}

void fuzz_file_end(struct fuzz_file *file) { close(file->fd); }
