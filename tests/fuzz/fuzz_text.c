/* Text for terminals and for stores: whatever came in, what goes out is valid UTF-8, and in one line. */
#include "base/buf.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "cli/output/text.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    boxcar_str text = {(const char *)data, size};
    AUTO_BUF struct buf repaired = BUF_INIT;
    size_t width = 0, most = size > 3 ? size - 3 : size;
    char *printable = text_printable(text, &width);
    boxcar_str cut = utf8_cut(text, most);

    PROMISE(printable != NULL && utf8_is_valid(boxcar_str_of(printable)));
    PROMISE(printable[strcspn(printable, "\n\r\033\177")] == '\0');
    PROMISE(utf8_length(boxcar_str_of(printable)) == width);
    free(printable);
    PROMISE(cut.len <= most);
    if (utf8_is_valid(text))
        PROMISE(utf8_is_valid(cut));
    PROMISE(utf8_repair(&repaired, text, most));
    PROMISE(repaired.len <= most && utf8_is_valid((boxcar_str){repaired.data, repaired.len}));
    return 0;
}
