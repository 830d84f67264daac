/*
 * The floor of HTTPS checks: a fresh connection and handshake each (TLS 1.3, one context for all, no session resumed) with nothing but
 * sockets, epoll and OpenSSL; chain, name and dates verified, status line, Content-Length and body read.
 * Usage: tls-floor PORT MILLISECONDS CHECKS_AT_THE_SAME_TIME AUTHORITY.pem NAME. Prints what the plain floor prints.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <signal.h>
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
  int fd, connected, asked;
  SSL *ssl;
  size_t got;
  long content;
  size_t body_at;
  double started, connected_at, secure_at;
  char head[kept_bytes + 1];
};

static struct slot slots[max_slots];
static SSL_CTX *context;
static const char *name;
static int epoll_fd, port, alive;
static unsigned long long good, bad;
static double phases[3], until;

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec * 1e6 + (double)at.tv_nsec / 1e3;
}

static void begin(struct slot *slot) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  slot->connected = slot->asked = 0;
  slot->got = 0;
  slot->content = -1;
  slot->ssl = NULL;
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
    phases[1] += slot->secure_at - slot->connected_at;
    phases[2] += end - slot->secure_at;
    good++;
  } else
    bad++;
  SSL_free(slot->ssl);
  ERR_clear_error();
  close(slot->fd);
  if (now() < until)
    begin(slot);
  else
    alive--;
}

static void take(struct slot *slot) {
  static const char text[] =
      "GET / HTTP/1.1\r\nHost: bench\r\nUser-Agent: floor\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate, br\r\n"
      "Connection: close\r\n\r\n";
  if (!slot->asked) {
    int done = SSL_connect(slot->ssl);
    if (done != 1) {
      if (SSL_get_error(slot->ssl, done) != SSL_ERROR_WANT_READ) finish(slot, 0);
      return;
    }
    slot->asked = 1;
    slot->secure_at = now();
    if (SSL_get_verify_result(slot->ssl) != X509_V_OK || SSL_write(slot->ssl, text, sizeof text - 1) <= 0) {
      finish(slot, 0);
      return;
    }
  }
  int got = SSL_read(slot->ssl, slot->head + slot->got, (int)(kept_bytes - slot->got));
  if (got <= 0) {
    if (SSL_get_error(slot->ssl, got) != SSL_ERROR_WANT_READ) finish(slot, 0);
    return;
  }
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

static void connected(struct slot *slot) {
  int error = 0;
  socklen_t bytes = sizeof error;
  getsockopt(slot->fd, SOL_SOCKET, SO_ERROR, &error, &bytes);
  if (error != 0) {
    finish(slot, 0);
    return;
  }
  slot->connected = 1;
  slot->connected_at = now();
  slot->ssl = SSL_new(context);
  SSL_set_fd(slot->ssl, slot->fd);
  SSL_set_tlsext_host_name(slot->ssl, name);
  SSL_set1_host(slot->ssl, name);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = slot};
  epoll_ctl(epoll_fd, EPOLL_CTL_MOD, slot->fd, &event);
  take(slot);
}

int main(int count, char **arguments) {
  if (count != 6) return 2;
  signal(SIGPIPE, SIG_IGN);
  port = atoi(arguments[1]);
  until = now() + atof(arguments[2]) * 1e3;
  int width = atoi(arguments[3]);
  name = arguments[5];
  context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  if (width < 1 || width > max_slots || SSL_CTX_load_verify_locations(context, arguments[4], NULL) != 1) return 2;
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
        connected(slot);
    }
  }
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  double us = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
              (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  printf("{\"good\":%llu,\"bad\":%llu,\"us\":%.0f,\"tls_us\":%.0f}\n", good, bad, us, good ? phases[1] / (double)good : 0);
  return 0;
}
