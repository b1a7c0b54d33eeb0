#include "fanouts.h"

boxcar_new_fanout new_fanout(const char *name, const boxcar_str *pattern, const boxcar_str *destinations,
                             size_t count) {
    boxcar_new_fanout fanout = BOXCAR_NEW_FANOUT_INIT;
    fanout.name = boxcar_str_of(name);
    fanout.patterns = pattern;
    fanout.pattern_count = 1;
    fanout.destinations = destinations;
    fanout.destination_count = count;
    return fanout;
}

void add_fanout(struct fixture *f, const boxcar_new_fanout *fanout) {
    ASSERT_OK(f, boxcar_fanout_add(f->store, fanout, &f->err));
}

boxcar_status try_forward(struct fixture *f, const char *name, const char *pattern, const char *destination) {
    const boxcar_str from = boxcar_str_of(pattern), to = boxcar_str_of(destination);
    const boxcar_new_fanout fanout = new_fanout(name, &from, &to, 1);
    return boxcar_fanout_add(f->store, &fanout, &f->err);
}

void forward(struct fixture *f, const char *name, const char *pattern, const char *destination) {
    ASSERT_OK(f, try_forward(f, name, pattern, destination));
}

boxcar_box route_of(struct fixture *f, const char *name) {
    boxcar_box reader = -1;
    ASSERT_OK(f, boxcar_subscription_find(f->store, boxcar_str_of(name), &reader, &f->err));
    return reader;
}

boxcar_fanout_list *fanout_of(struct fixture *f, const char *name) {
    boxcar_fanout_list *list = NULL;
    ASSERT_OK(f, boxcar_fanout_read(f->store, boxcar_str_of(name), &list, &f->err));
    assert_int_equal(list->count, 1);
    return list;
}

void assert_no_fanout(struct fixture *f, const char *name) {
    boxcar_fanout_list *list = NULL;
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_fanout_read(f->store, boxcar_str_of(name), &list, &f->err));
    assert_string_equal(f->err.argument, "fanout");
}
