/*
 * switches.c - as many context switches as it can do: what a trace of them costs.
 *
 * Two threads pass a byte to and fro through two pipes, inside statements of 200 round trips with the static probes of a
 * server. It prints `switches N`, the round trips of each second, two switches each, until it is killed.
 *
 *   gcc -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -o switches switches.c -lpthread
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/sdt.h>
#include <time.h>
#include <unistd.h>

static int there[2], back[2];
static char text[] = "SELECT switches()", user[] = "app", host[] = "localhost", db[] = "shop";

__attribute__((noinline)) static void pass(long trip, long connection, int from, int to) {
  char byte = 'x';
  if (trip % 200 == 0) {
    STAP_PROBE1(mysql, query__exec__done, 0);
    STAP_PROBE1(mysql, query__done, 0);
    STAP_PROBE5(mysql, query__start, text, connection, db, user, host);
    STAP_PROBE6(mysql, query__exec__start, text, connection, db, user, host, 0);
  }
  if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1) _exit(1);
}

static void *other(void *none) {
  for (long trip = 0;; trip++) pass(trip, 2, there[0], back[1]);
  return none;
}

int main(void) {
  pthread_t thread;
  struct timespec now;
  if (pipe(there) || pipe(back) || pthread_create(&thread, 0, other, 0) || write(there[1], "x", 1) != 1) return 1;
  clock_gettime(CLOCK_MONOTONIC, &now);
  for (long second = now.tv_sec, trip = 0, begun = 0;; trip++) {
    pass(trip, 1, back[0], there[1]);
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec == second) continue;
    printf("switches %ld\n", trip - begun), fflush(stdout);
    second = now.tv_sec, begun = trip;
  }
}
