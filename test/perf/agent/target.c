/*
 * What is checked in the agent's bench: answers every request with 1 kB over a connection of its own and counts.
 * Loopback only. Prints its port, then its count for every line on standard input; ends with standard input.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { body_bytes = 1024, max_events = 512 };

static void fail(const char *what) {
  perror(what);
  exit(1);
}

int main(void) {
  struct rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  char body[body_bytes + 1];
  memset(body, 'x', body_bytes);
  body[body_bytes] = 0;
  char answer[2048];
  int answer_bytes = snprintf(answer, sizeof answer,
                              "HTTP/1.1 200 OK\r\nServer: bench\r\nContent-Type: text/plain; charset=utf-8\r\n"
                              "Cache-Control: no-store\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
                              body_bytes, body);
  int server = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (server < 0) fail("socket");
  int one = 1;
  setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  /* All of 127.0.0.0/8 has to answer, so the socket is bound to any address, and to loopback where that is allowed. */
  (void)setsockopt(server, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3);
  struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
  socklen_t own_bytes = sizeof own;
  if (bind(server, (struct sockaddr *)&own, sizeof own) != 0) fail("bind");
  if (listen(server, 4096) != 0) fail("listen");
  getsockname(server, (struct sockaddr *)&own, &own_bytes);
  printf("%d\n", ntohs(own.sin_port));
  fflush(stdout);

  int poll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = server};
  if (poll < 0 || epoll_ctl(poll, EPOLL_CTL_ADD, server, &event) != 0) fail("epoll");
  event.data.fd = STDIN_FILENO;
  if (epoll_ctl(poll, EPOLL_CTL_ADD, STDIN_FILENO, &event) != 0) fail("epoll of standard input");

  unsigned long long count = 0;
  static char in[16384];
  struct epoll_event events[max_events];
  for (;;) {
    int ready = epoll_wait(poll, events, max_events, -1);
    for (int at = 0; at < ready; at++) {
      int fd = events[at].data.fd;
      if (fd == STDIN_FILENO) {
        char line[64];
        if (read(STDIN_FILENO, line, sizeof line) <= 0) return 0;
        printf("%llu\n", count);
        fflush(stdout);
      } else if (fd == server) {
        for (;;) {
          struct sockaddr_in peer;
          socklen_t peer_bytes = sizeof peer;
          int accepted = accept4(server, (struct sockaddr *)&peer, &peer_bytes, SOCK_NONBLOCK);
          if (accepted < 0) break;
          if ((ntohl(peer.sin_addr.s_addr) >> 24) != 127) {
            close(accepted);
            continue;
          }
          event.events = EPOLLIN;
          event.data.fd = accepted;
          epoll_ctl(poll, EPOLL_CTL_ADD, accepted, &event);
        }
      } else {
        /* A request of the bench fits into one segment. */
        ssize_t got = read(fd, in, sizeof in);
        if (got < 0 && errno == EAGAIN) continue;
        if (got >= 4 && memcmp(in + got - 4, "\r\n\r\n", 4) == 0) {
          count++;
          if (write(fd, answer, (size_t)answer_bytes) < 0) errno = 0;
        }
        close(fd);
      }
    }
  }
}
