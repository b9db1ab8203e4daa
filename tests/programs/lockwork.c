/*
 * lockwork.c - known waits for a condition with a clock and for a read-write lock, for lock-waits.
 *
 * Waits for SIGUSR1. Then the main thread waits 50 times 20 ms for a condition that never comes, while one thread holds a
 * read-write lock for 20 ms of each 25 and another asks for it. It prints `truth KIND NANOSECONDS` and stays, with its
 * threads, until SIGTERM: the frames of threads that have ended are not resolved.
 *
 *   gcc -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -o lockwork lockwork.c -lpthread
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#define NOINLINE __attribute__((noinline))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static volatile sig_atomic_t begun, ended;
static volatile int done;
static double reader_waited;

static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
static void nap(int ms) { struct timespec t = { 0, ms * 1000000L }; nanosleep(&t, 0); }
static void on_signal(int s) { if (s == SIGUSR1) begun = 1; else ended = 1; }

static void *writer(void *unused) {
  for (int i = 0; i < 50; i++) { pthread_rwlock_wrlock(&table); nap(20); pthread_rwlock_unlock(&table); nap(5); }
  __sync_fetch_and_add(&done, 1);
  while (!ended) nap(20);
  return unused;
}

NOINLINE void read_table(void) { pthread_rwlock_rdlock(&table); __asm__ volatile(""); }

static void *reader(void *unused) {
  for (int i = 0; i < 50; i++) {
    double from = now();
    read_table(); reader_waited += now() - from;
    pthread_rwlock_unlock(&table); nap(7);
  }
  __sync_fetch_and_add(&done, 1);
  while (!ended) nap(20);
  return unused;
}

NOINLINE void wait_for_never(void) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += 20000000;
  if (until.tv_nsec >= 1000000000) { until.tv_nsec -= 1000000000; until.tv_sec++; }
  pthread_cond_clockwait(&never, &mutex, CLOCK_MONOTONIC, &until);
  __asm__ volatile("");
}

int main(void) {
  pthread_t threads[2];
  double waited = 0, from;
  signal(SIGUSR1, on_signal); signal(SIGTERM, on_signal);
  while (!begun && !ended) nap(20);
  pthread_create(&threads[0], 0, writer, 0);
  pthread_create(&threads[1], 0, reader, 0);
  for (int i = 0; i < 50; i++) {
    pthread_mutex_lock(&mutex);
    from = now(); wait_for_never(); waited += now() - from;
    pthread_mutex_unlock(&mutex);
  }
  while (done < 2 && !ended) nap(20);
  printf("truth\tcondition\t%.0f\ntruth\trwlock\t%.0f\n", waited * 1e9, reader_waited * 1e9);
  fflush(stdout);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  return 0;
}
