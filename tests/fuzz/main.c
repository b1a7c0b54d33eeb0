/* Runs a target over files and folders of them, without a fuzzer: so that the targets and what they once
 * found are part of every test run. */
#include <dirent.h>
#include <err.h>
#include <sys/stat.h>

#include "fuzz.h"

static size_t inputs;

static void run_file(const char *path) {
    FILE *file = fopen(path, "rb");
    struct stat info;
    uint8_t *data;

    if (file == NULL || fstat(fileno(file), &info) != 0)
        err(99, "%s", path);
    data = malloc((size_t)info.st_size + 1); /* exactly as large as it is: reading on is an error */
    if (data == NULL || fread(data, 1, (size_t)info.st_size, file) != (size_t)info.st_size)
        err(99, "%s", path);
    fclose(file);
    LLVMFuzzerTestOneInput(data, (size_t)info.st_size);
    free(data);
    inputs++;
}

static void run_folder(const char *path) {
    DIR *folder = opendir(path);
    const struct dirent *entry;
    char name[4096];

    if (folder == NULL)
        err(99, "%s", path);
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        run_file(name);
    }
    closedir(folder);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        struct stat info;
        if (stat(argv[i], &info) != 0)
            err(99, "%s", argv[i]);
        if (S_ISDIR(info.st_mode))
            run_folder(argv[i]);
        else
            run_file(argv[i]);
    }
    if (inputs == 0)
        errx(99, "no input: give files, or folders of files");
    printf("%zu inputs\n", inputs);
    return 0;
}
