/* Keeping what the program was told in confidence from other processes, most of all from the programs that
 * a worker runs: they have the same user and can read /proc of their parent. */
#ifndef BOXCAR_CLI_SERVICE_SECRETS_H
#define BOXCAR_CLI_SERVICE_SECRETS_H

/* Moves the environment to memory that /proc/PID/environ does not show, and overwrites it there. Variables
 * keep their values for this process: libpq reads PGPASSWORD whenever it connects. Call it before anything
 * has asked for a variable. */
void secrets_move_environment(void);

/* From here on processes of the same user can read neither this one's memory nor its descriptors; there are
 * no core dumps, and only root can attach a debugger. Passwords in the arguments are overwritten, which
 * `argv` must outlive. */
void secrets_close(char **argv);

#endif
