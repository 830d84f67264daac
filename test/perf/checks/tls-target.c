/*
 * What is checked over TLS in the bench of checks: TLS 1.3 with an EC certificate, answers every request with 1 kB and closes.
 * Usage: tls-target CHAIN.pem KEY.pem. Loopback only, one process. Prints its port; ends with standard input.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { body_bytes = 1024, max_events = 256, max_fds = 65536 };

static SSL *sessions[max_fds];

static void end(int fd) {
  SSL_free(sessions[fd]);
  sessions[fd] = NULL;
  close(fd);
}

/* Whether the connection goes on. */
static int take(int fd, const char *answer, int answer_bytes) {
  SSL *ssl = sessions[fd];
  char in[16384];
  if (!SSL_is_init_finished(ssl)) {
    int done = SSL_accept(ssl);
    if (done != 1) return SSL_get_error(ssl, done) == SSL_ERROR_WANT_READ;
  }
  int got = SSL_read(ssl, in, sizeof in);
  if (got <= 0) return SSL_get_error(ssl, got) == SSL_ERROR_WANT_READ;
  if (got >= 4 && memcmp(in + got - 4, "\r\n\r\n", 4) == 0) {
    SSL_write(ssl, answer, answer_bytes);
    SSL_shutdown(ssl);
  }
  return 0;
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  signal(SIGPIPE, SIG_IGN);
  char body[body_bytes + 1];
  memset(body, 'x', body_bytes);
  body[body_bytes] = 0;
  char answer[2048];
  int answer_bytes = snprintf(answer, sizeof answer,
                              "HTTP/1.1 200 OK\r\nServer: bench\r\nContent-Type: text/plain; charset=utf-8\r\n"
                              "Cache-Control: no-store\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
                              body_bytes, body);
  SSL_CTX *context = SSL_CTX_new(TLS_server_method());
  SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  SSL_CTX_set_num_tickets(context, 0);
  if (SSL_CTX_use_certificate_chain_file(context, arguments[1]) != 1 ||
      SSL_CTX_use_PrivateKey_file(context, arguments[2], SSL_FILETYPE_PEM) != 1) {
    ERR_print_errors_fp(stderr);
    return 1;
  }
  int server = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t own_bytes = sizeof own;
  if (server < 0 || bind(server, (struct sockaddr *)&own, sizeof own) != 0 || listen(server, 4096) != 0) {
    perror("listen");
    return 1;
  }
  getsockname(server, (struct sockaddr *)&own, &own_bytes);
  printf("%d\n", ntohs(own.sin_port));
  fflush(stdout);
  int poll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = server};
  epoll_ctl(poll, EPOLL_CTL_ADD, server, &event);
  event.data.fd = STDIN_FILENO;
  epoll_ctl(poll, EPOLL_CTL_ADD, STDIN_FILENO, &event);
  struct epoll_event events[max_events];
  for (;;) {
    int ready = epoll_wait(poll, events, max_events, -1);
    for (int at = 0; at < ready; at++) {
      int fd = events[at].data.fd;
      if (fd == STDIN_FILENO) return 0;
      if (fd == server) {
        for (;;) {
          int accepted = accept4(server, NULL, NULL, SOCK_NONBLOCK);
          if (accepted < 0) break;
          if (accepted >= max_fds) {
            close(accepted);
            continue;
          }
          int one = 1;
          setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
          sessions[accepted] = SSL_new(context);
          SSL_set_fd(sessions[accepted], accepted);
          event.events = EPOLLIN;
          event.data.fd = accepted;
          epoll_ctl(poll, EPOLL_CTL_ADD, accepted, &event);
        }
      } else if (!take(fd, answer, answer_bytes))
        end(fd);
    }
  }
}
