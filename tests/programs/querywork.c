/*
 * querywork.c - statements with known work, for the scripts that name the statement of a stack.
 *
 * Waits for SIGUSR1. Then two threads run ROUNDS times four statements in turn, with the static probes of a server: one
 * computes, one sleeps, two do both. Each text is freed before query-done, as the server does; the prepared execution has no
 * query-start. It prints `truth TEXT RUNS CPU-NANOSECONDS OFF-CPU-NANOSECONDS IN-NANOSLEEP-NANOSECONDS` and stays until SIGTERM.
 *
 *   gcc -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -o querywork querywork.c -lpthread
 *   querywork ROUNDS
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sdt.h>
#include <time.h>
#define NOINLINE __attribute__((noinline))

static const char *texts[] = { "SELECT compute()", "SELECT wait()", "INSERT both()\n  VALUES ('x')", "SELECT prepared()" };
static const char *names[] = { "compute", "wait", "both", "prepared" };
static struct truth { pthread_mutex_t lock; long runs; double cpu, asleep, calls; } truth[4] = {
  { PTHREAD_MUTEX_INITIALIZER }, { PTHREAD_MUTEX_INITIALIZER }, { PTHREAD_MUTEX_INITIALIZER }, { PTHREAD_MUTEX_INITIALIZER } };
static long rounds = 50;
static volatile sig_atomic_t ended, begun;
static int done;                                    /* threads that have no more to do */

static double clock_of(clockid_t id) { struct timespec t; clock_gettime(id, &t); return t.tv_sec + t.tv_nsec * 1e-9; }

NOINLINE void compute_ms(double ms) {
  double end = clock_of(CLOCK_THREAD_CPUTIME_ID) + ms * 1e-3;
  volatile unsigned x = 1;
  while (clock_of(CLOCK_THREAD_CPUTIME_ID) < end) for (int i = 0; i < 20000; i++) x = x * 1664525 + 1013904223;
}
static __thread double in_calls;
NOINLINE void sleep_ms(int ms) {
  struct timespec t = { ms / 1000, ms % 1000 * 1000000L };
  double from = clock_of(CLOCK_MONOTONIC);
  nanosleep(&t, 0);
  in_calls += clock_of(CLOCK_MONOTONIC) - from;
}
NOINLINE void run_compute(void) { compute_ms(20); __asm__ volatile(""); }
NOINLINE void run_wait(void) { sleep_ms(30); __asm__ volatile(""); }
NOINLINE void run_both(void) { compute_ms(10); sleep_ms(15); __asm__ volatile(""); }

static void statement(int which, long connection) {
  char *text = strdup(texts[which]), user[] = "app", host[] = "localhost", db[] = "shop";
  double cpu = clock_of(CLOCK_THREAD_CPUTIME_ID), from = clock_of(CLOCK_MONOTONIC);
  in_calls = 0;
  if (which != 3) STAP_PROBE5(mysql, query__start, text, connection, db, user, host);
  STAP_PROBE6(mysql, query__exec__start, text, connection, db, user, host, which == 3);
  switch (which) { case 0: run_compute(); break; case 1: run_wait(); break; default: run_both(); }
  STAP_PROBE1(mysql, query__exec__done, 0);
  cpu = clock_of(CLOCK_THREAD_CPUTIME_ID) - cpu;
  from = clock_of(CLOCK_MONOTONIC) - from;
  double calls = in_calls;
  memset(text, '#', strlen(text)); free(text);
  if (which != 3) STAP_PROBE1(mysql, query__done, 0);
  pthread_mutex_lock(&truth[which].lock);
  truth[which].runs++; truth[which].cpu += cpu; truth[which].asleep += from - cpu; truth[which].calls += calls;
  pthread_mutex_unlock(&truth[which].lock);
  sleep_ms(5);                                      /* outside of any statement */
}

static void *client(void *number) {
  for (long i = 0; i < 4 * rounds; i++) statement(i % 4, (long)number);
  /* DTrace finds no symbols for a thread that is gone when the trace is printed. */
  __atomic_add_fetch(&done, 1, __ATOMIC_SEQ_CST);
  while (!ended) sleep_ms(20);
  return 0;
}

static void on_signal(int s) { if (s == SIGUSR1) begun = 1; else ended = 1; }

int main(int argc, char **argv) {
  pthread_t thread[2];
  if (argc > 1) rounds = atol(argv[1]);
  signal(SIGUSR1, on_signal); signal(SIGTERM, on_signal);
  while (!begun && !ended) sleep_ms(20);
  for (long i = 0; i < 2; i++) pthread_create(&thread[i], 0, client, (void *)(i + 1));
  while (__atomic_load_n(&done, __ATOMIC_SEQ_CST) < 2) sleep_ms(20);
  for (int i = 0; i < 4; i++)
    printf("truth\t%s\t%ld\t%.0f\t%.0f\t%.0f\n", names[i], truth[i].runs, truth[i].cpu * 1e9, truth[i].asleep * 1e9, truth[i].calls * 1e9);
  fflush(stdout);
  for (int i = 0; i < 2; i++) pthread_join(thread[i], 0);
  return 0;
}
