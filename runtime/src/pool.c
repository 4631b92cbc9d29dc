//===- pool.c - tiles of a CPU kernel spread over threads -----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE in the project root for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One pool for the process. A launch puts a job (on its own stack) in the list
// and starts working on it itself; idle workers join the first job that still
// has tiles and room for a helper. So two launches at a time share the workers,
// a launch never waits for a worker to be free, and one that gets no worker at
// all (no thread could be made) still finishes.
//
//===----------------------------------------------------------------------===//

#define _GNU_SOURCE // sched_getaffinity
#include "internal.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct job {
  attn_cpu_entry entry;
  void *const *params;
  int64_t tiles, chunk;
  _Atomic int64_t next_tile;
  uint32_t wanted, active; ///< helpers that may still join, that are at work
  struct job *next;
} job;

static struct {
  pthread_mutex_t mutex; // guards the rest, and the plain fields of jobs in the list
  pthread_cond_t work;   // a job was added
  pthread_cond_t done;   // a helper left a job
  job *jobs;
  uint32_t workers;
} pool = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, 0};

static _Atomic uint32_t wantedThreads;

void attn_set_cpu_threads(uint32_t threads) { atomic_store(&wantedThreads, threads); }

uint32_t attn_cpu_threads(void) {
  uint32_t threads = atomic_load(&wantedThreads);
  if (threads)
    return threads;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return (uint32_t)CPU_COUNT(&set);
  long online = sysconf(_SC_NPROCESSORS_ONLN); // more than 1024 cores
  return online > 0 ? (uint32_t)online : 1;
}

static bool hasTiles(job *j) { return atomic_load_explicit(&j->next_tile, memory_order_relaxed) < j->tiles; }

static void work(job *j) {
  for (;;) {
    int64_t begin = atomic_fetch_add_explicit(&j->next_tile, j->chunk, memory_order_relaxed);
    if (begin >= j->tiles)
      return;
    int64_t end = j->tiles - begin < j->chunk ? j->tiles : begin + j->chunk;
    j->entry(j->params, begin, end);
  }
}

static void *worker(void *unused) {
  (void)unused;
  pthread_mutex_lock(&pool.mutex);
  for (;;) {
    job *j = pool.jobs;
    while (j && !(j->wanted > 0 && hasTiles(j)))
      j = j->next;
    if (!j) {
      pthread_cond_wait(&pool.work, &pool.mutex);
      continue;
    }
    --j->wanted;
    ++j->active;
    pthread_mutex_unlock(&pool.mutex);
    work(j);
    pthread_mutex_lock(&pool.mutex);
    // The job's owner frees it once it sees 0, so it is not touched after this.
    if (--j->active == 0)
      pthread_cond_broadcast(&pool.done);
  }
  return NULL;
}

// A forked child has the list and the count but none of the threads.
static void beforeFork(void) { pthread_mutex_lock(&pool.mutex); }
static void afterForkParent(void) { pthread_mutex_unlock(&pool.mutex); }
static void afterForkChild(void) {
  pthread_mutex_init(&pool.mutex, NULL);
  pthread_cond_init(&pool.work, NULL);
  pthread_cond_init(&pool.done, NULL);
  pool.jobs = NULL;
  pool.workers = 0;
}
static void handleForks(void) { pthread_atfork(beforeFork, afterForkParent, afterForkChild); }

/// Called with the mutex held. Stops quietly when no more threads can be had.
static void growTo(uint32_t workers) {
  if (pool.workers >= workers)
    return;
  // Signals belong to the program's own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) == 0) {
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    // Kernels keep their tiles on the stack: do not depend on the shell's limit.
    pthread_attr_setstacksize(&attributes, (size_t)8 << 20);
    pthread_t thread;
    while (pool.workers < workers && pthread_create(&thread, &attributes, worker, NULL) == 0)
      ++pool.workers;
    pthread_attr_destroy(&attributes);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void attn_pool_run(attn_cpu_entry entry, void *const *params, int64_t tiles) {
  uint32_t threads = attn_cpu_threads();
  if (threads > tiles)
    threads = (uint32_t)tiles;
  // Small chunks at the end keep threads busy when tiles differ (causal); 16 a
  // thread are enough for that, and few enough for the counter.
  int64_t chunk = tiles / ((int64_t)threads * 16);
  job j = {.entry = entry, .params = params, .tiles = tiles, .chunk = chunk > 0 ? chunk : 1, .wanted = threads - 1};
  if (threads <= 1) {
    entry(params, 0, tiles);
    return;
  }
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, handleForks);
  pthread_mutex_lock(&pool.mutex);
  growTo(threads - 1);
  job **tail = &pool.jobs;
  while (*tail)
    tail = &(*tail)->next;
  *tail = &j;
  pthread_cond_broadcast(&pool.work);
  pthread_mutex_unlock(&pool.mutex);

  work(&j);

  pthread_mutex_lock(&pool.mutex);
  job **link = &pool.jobs;
  while (*link != &j)
    link = &(*link)->next;
  *link = j.next; // nobody joins any more
  while (j.active > 0)
    pthread_cond_wait(&pool.done, &pool.mutex);
  pthread_mutex_unlock(&pool.mutex);
}
