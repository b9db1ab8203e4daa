/*
 * filework.c - known calls on known files, for the scripts that watch files and system calls.
 *
 * Waits for SIGUSR1, then makes ROUNDS rounds of about 20 ms: writes 8 kB at a position of one/data and syncs it, writes
 * a line to two/log, reads 4 kB of one/data, opens a file that exists and one that does not. It times each call itself,
 * prints `truth CALL FILE CALLS BYTES NANOSECONDS` and stays until SIGTERM, so that a trace can cover all of it.
 *
 *   gcc -O1 -g -fno-omit-frame-pointer -o filework filework.c
 *   filework DIR ROUNDS
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum call { PWRITE, SYNC, WRITE, PREAD, OPEN, MISSING, CALLS };
static const char *names[CALLS] = { "pwrite64\tone/data", "fdatasync\tone/data", "write\ttwo/log", "pread64\tone/data",
  "open\tone/data", "missing\tno/such" };
static struct { long calls, bytes; double time; } truth[CALLS];
static volatile sig_atomic_t ended, begun;

static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
static void on_signal(int s) { if (s == SIGUSR1) begun = 1; else ended = 1; }
static long note(enum call c, double from, long result) {
  truth[c].time += now() - from; truth[c].calls++; if (result > 0 && c <= PREAD) truth[c].bytes += result;
  return result;
}
static void nap(void) { struct timespec t = { 0, 20000000 }; nanosleep(&t, 0); }

int main(int argc, char **argv) {
  static char block[8192], line[] = "one line of a log\n";
  double t;
  signal(SIGUSR1, on_signal); signal(SIGTERM, on_signal);
  if (argc < 3 || chdir(argv[1])) { perror("filework: directory"); return 1; }
  mkdir("one", 0777); mkdir("two", 0777);
  int data = open("one/data", O_RDWR | O_CREAT, 0666), log = open("two/log", O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (data < 0 || log < 0) { perror("filework: open"); return 1; }
  memset(block, 'x', sizeof block);
  while (!begun && !ended) nap();
  for (long i = 0; !ended && i < atol(argv[2]); i++) {
    t = now(); note(PWRITE, t, pwrite(data, block, sizeof block, i % 64 * sizeof block));
    t = now(); note(SYNC, t, fdatasync(data));
    t = now(); note(WRITE, t, write(log, line, sizeof line - 1));
    t = now(); note(PREAD, t, pread(data, block, 4096, 0));
    t = now(); int fd = open("one/data", O_RDONLY); note(OPEN, t, fd); close(fd);
    t = now(); note(MISSING, t, open("no/such", O_RDONLY));
    nap();
  }
  for (int c = 0; c < CALLS; c++)
    printf("truth\t%s\t%ld\t%ld\t%.0f\n", names[c], truth[c].calls, truth[c].bytes, truth[c].time * 1e9);
  fflush(stdout);
  while (!ended) nap();
  return 0;
}
