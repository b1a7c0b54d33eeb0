/* boxcar.h: everything but the two headers that need a database's own header
 * (boxcar/sqlite.h and boxcar/postgres.h). */
#ifndef BOXCAR_H
#define BOXCAR_H

#include "boxcar/backoff.h"
#include "boxcar/coordinator.h"
#include "boxcar/dead_letter.h"
#include "boxcar/doctor.h"
#include "boxcar/error.h"
#include "boxcar/event.h"
#include "boxcar/fanout.h"
#include "boxcar/feed.h"
#include "boxcar/fleet.h"
#include "boxcar/inbox.h"
#include "boxcar/inspect.h"
#include "boxcar/instance.h"
#include "boxcar/join.h"
#include "boxcar/log.h"
#include "boxcar/maintain.h"
#include "boxcar/message.h"
#include "boxcar/ordered.h"
#include "boxcar/request.h"
#include "boxcar/router.h"
#include "boxcar/schedule.h"
#include "boxcar/store.h"
#include "boxcar/strategy.h"
#include "boxcar/stream.h"
#include "boxcar/subscription.h"
#include "boxcar/types.h"
#include "boxcar/version.h"
#include "boxcar/worker.h"

#endif
