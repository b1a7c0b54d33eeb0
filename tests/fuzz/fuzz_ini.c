/* Configuration files. */
#include "cli/config/config.h"
#include "fuzz.h"

static void hear(void *context, const char *text) {
    size_t *heard = context;
    PROMISE(text[0] != '\0');
    (*heard)++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t heard = 0;
    struct complaints complaints = {.say = hear, .context = &heard};
    struct fuzz_file file = fuzz_file_make(data, size);
    struct config config = {0};
    bool good = config_file_check(file.path, &complaints, &config);

    PROMISE(good == (complaints.count == 0));
    PROMISE(heard == complaints.count);
    for (size_t i = 0; i < config.handler_count; i++)
        PROMISE(config.handlers[i].topic != NULL && config.handlers[i].action != NULL);
    config_release(&config);
    fuzz_file_end(&file);
    return 0;
}
