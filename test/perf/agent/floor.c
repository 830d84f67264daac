/*
 * The floor of the agent's bench: HTTP checks over a fresh connection each with nothing but sockets and epoll: connect, phases,
 * request, status line, Content-Length, body. Usage: floor PORT MILLISECONDS CHECKS_AT_THE_SAME_TIME ADDRESSES.
 * Prints the checks that were good, those that were not, and the processor time (user and system, µs) as one line of JSON.
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
#include <time.h>
#include <unistd.h>

enum { max_slots = 1024, max_events = 512, kept_bytes = 8192 };

struct slot {
  int fd, connected;
  size_t got;
  long content;
  size_t body_at;
  double started, connected_at, first_byte_at;
  char head[kept_bytes + 1];
};

static struct slot slots[max_slots];
static int epoll_fd, port, addresses;
static unsigned long long good, bad, next_address;
static int alive;
static double phases[3], until;

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec * 1e6 + (double)at.tv_nsec / 1e3;
}

static void begin(struct slot *slot) {
  unsigned number = (unsigned)(next_address++ % (unsigned)addresses);
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
  to.sin_addr.s_addr = htonl(0x7f010000u + (number / 250u) * 256u + 1u + number % 250u);
  slot->connected = 0;
  slot->got = 0;
  slot->content = -1;
  slot->started = now();
  slot->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  int one = 1;
  setsockopt(slot->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  struct epoll_event event = {.events = EPOLLOUT, .data.ptr = slot};
  if (slot->fd < 0 || (connect(slot->fd, (struct sockaddr *)&to, sizeof to) != 0 && errno != EINPROGRESS) ||
      epoll_ctl(epoll_fd, EPOLL_CTL_ADD, slot->fd, &event) != 0) {
    perror("connect");
    exit(1);
  }
}

static void finish(struct slot *slot, int is_good) {
  if (is_good) {
    double end = now();
    phases[0] += slot->connected_at - slot->started;
    phases[1] += slot->first_byte_at - slot->connected_at;
    phases[2] += end - slot->first_byte_at;
    good++;
  } else
    bad++;
  close(slot->fd);
  if (now() < until)
    begin(slot);
  else
    alive--;
}

static void request(struct slot *slot) {
  int error = 0;
  socklen_t bytes = sizeof error;
  getsockopt(slot->fd, SOL_SOCKET, SO_ERROR, &error, &bytes);
  if (error != 0) {
    finish(slot, 0);
    return;
  }
  static const char text[] =
      "GET / HTTP/1.1\r\nHost: bench\r\nUser-Agent: floor\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate, br\r\n"
      "Connection: close\r\n\r\n";
  slot->connected = 1;
  slot->connected_at = now();
  if (write(slot->fd, text, sizeof text - 1) != (ssize_t)sizeof text - 1) {
    finish(slot, 0);
    return;
  }
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = slot};
  epoll_ctl(epoll_fd, EPOLL_CTL_MOD, slot->fd, &event);
}

static void take(struct slot *slot) {
  ssize_t got = read(slot->fd, slot->head + slot->got, kept_bytes - slot->got);
  if (got <= 0) {
    if (got < 0 && errno == EAGAIN) return;
    finish(slot, 0);
    return;
  }
  if (slot->got == 0) slot->first_byte_at = now();
  slot->got += (size_t)got;
  slot->head[slot->got] = 0;
  if (slot->content < 0) {
    char *end = strstr(slot->head, "\r\n\r\n");
    if (end == NULL) return;
    char *length = strcasestr(slot->head, "\r\nContent-Length:");
    if (strncmp(slot->head, "HTTP/1.1 200", 12) != 0 || length == NULL || length > end) {
      finish(slot, 0);
      return;
    }
    slot->content = strtol(length + 17, NULL, 10);
    slot->body_at = (size_t)(end + 4 - slot->head);
  }
  if (slot->got - slot->body_at >= (size_t)slot->content) finish(slot, 1);
}

int main(int count, char **arguments) {
  if (count != 5) return 2;
  port = atoi(arguments[1]);
  until = now() + atof(arguments[2]) * 1e3;
  int width = atoi(arguments[3]);
  addresses = atoi(arguments[4]);
  if (width < 1 || width > max_slots || addresses < 1) return 2;
  epoll_fd = epoll_create1(0);
  alive = width;
  for (int at = 0; at < width; at++) begin(&slots[at]);
  struct epoll_event events[max_events];
  while (alive > 0) {
    int ready = epoll_wait(epoll_fd, events, max_events, 1000);
    for (int at = 0; at < ready; at++) {
      struct slot *slot = events[at].data.ptr;
      if (slot->connected)
        take(slot);
      else
        request(slot);
    }
  }
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  double us = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
              (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  printf("{\"good\":%llu,\"bad\":%llu,\"us\":%.0f,\"connect_us\":%.0f}\n", good, bad, us, good ? phases[0] / (double)good : 0);
  return 0;
}
