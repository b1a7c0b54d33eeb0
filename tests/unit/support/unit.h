/* What every unit test includes. cmocka.h wants the four before it. */
#ifndef BOXCAR_TESTS_UNIT_H
#define BOXCAR_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../support/claimers.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#endif
