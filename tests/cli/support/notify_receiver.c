/* notify_receiver PATH: what is sent to a datagram socket at PATH, on standard output, as it comes; each
 * datagram ends with a newline. Plays the service manager of sd_notify(3). */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char news[4096];
    ssize_t size;
    if (argc != 2 || strlen(argv[1]) >= sizeof(address.sun_path))
        return 2;
    strcpy(address.sun_path, argv[1]);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
        return 1;
    while ((size = recv(fd, news, sizeof(news), 0)) >= 0)
        if (fwrite(news, 1, (size_t)size, stdout) != (size_t)size || fputc('\n', stdout) == EOF ||
            fflush(stdout))
            return 1;
    return 1;
}
