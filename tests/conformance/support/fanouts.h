/* The steps that tests of policies are made of, in addition to subscriptions.h. A policy's route is the
 * subscription POLICY/DESTINATION that does its work. */
#ifndef BOXCAR_TESTS_FANOUTS_H
#define BOXCAR_TESTS_FANOUTS_H

#include "boxcar/fanout.h"
#include "subscriptions.h"

/* Of the outbox, from the end, with this one pattern and these destinations, which are borrowed. */
boxcar_new_fanout new_fanout(const char *name, const boxcar_str *pattern, const boxcar_str *destinations,
                             size_t count);
void add_fanout(struct fixture *f, const boxcar_new_fanout *fanout);
/* With one pattern and one destination. */
boxcar_status try_forward(struct fixture *f, const char *name, const char *pattern, const char *destination);
void forward(struct fixture *f, const char *name, const char *pattern, const char *destination);
/* The number of a route, by its whole name. */
boxcar_box route_of(struct fixture *f, const char *name);
/* One policy; the caller frees the list. */
boxcar_fanout_list *fanout_of(struct fixture *f, const char *name);
void assert_no_fanout(struct fixture *f, const char *name);

#endif
