/* Reading and freeing the lists that calls return. */
#include <stdlib.h>

#include "store/store.h"

void boxcar_list_free(const void *list) { list_take_back(list); }
