/* Slow clients do not keep others from the metrics: a request has a deadline, and one address has a limited
 * number of connections. libmicrohttpd itself knows only how long nothing came, so that a byte now and then
 * holds a connection for ever; hence a thread that cuts connections. */
#ifndef BOXCAR_CLI_SERVICE_METRICS_GUARD_H
#define BOXCAR_CLI_SERVICE_METRICS_GUARD_H

#include <microhttpd.h>

/* A request and its answer, from the connection's start or the end of the request before it. */
#define METRICS_DEADLINE_MS 5000
/* An address with more connections than this loses those that are older than the grace time. A burst is no
 * attack. */
#define METRICS_PER_ADDRESS 16
#define METRICS_GRACE_MS 2000

struct metrics_guard;

/* Its thread takes no signals if the caller has them blocked. NULL = no memory or no thread. */
struct metrics_guard *metrics_guard_start(void);
/* After the daemon. NULL is fine. */
void metrics_guard_stop(struct metrics_guard *guard);

/* For MHD_OPTION_NOTIFY_CONNECTION and MHD_OPTION_NOTIFY_COMPLETED; the context is the guard. */
void metrics_guard_on_connection(void *guard, struct MHD_Connection *connection, void **ret_place,
                                 enum MHD_ConnectionNotificationCode code);
void metrics_guard_on_completed(void *guard, struct MHD_Connection *connection, void **request,
                                enum MHD_RequestTerminationCode code);

#endif
