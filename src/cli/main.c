/* boxcar: the program over the library. Everything is in cli_main(). */
#include "cli.h"

int main(int argc, char **argv) { return cli_main(argc, argv); }
