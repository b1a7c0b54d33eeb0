/* Lines of a file or of standard input, of any length. Another thread can end the waiting for them. */
#ifndef BOXCAR_CLI_INPUT_BATCH_LINE_READER_H
#define BOXCAR_CLI_INPUT_BATCH_LINE_READER_H

#include <boxcar/types.h>

enum line_state { LINE_READ, LINE_END, LINE_STOPPED, LINE_FAILED };

struct line_reader {
    int fd;
    int stop_fd; /* readable = stop; -1 = nobody stops it */
    char *buffer;
    size_t capacity, start, end; /* what is in it and was not given out */
    size_t searched;             /* of that: has no line end */
    bool is_at_end;              /* of the file */
    size_t number;               /* of the line given out last, from 1 on */
};

/* "-" is standard input. false = errno says why not. Release it afterwards. */
bool line_reader_open(struct line_reader *ret_reader, const char *path);
/* The next line with its line end, which the last one may lack; lent until the next call. LINE_FAILED: errno
 * says why. */
enum line_state line_reader_next(struct line_reader *reader, boxcar_str *ret_line);
void line_reader_release(struct line_reader *reader);

#endif
