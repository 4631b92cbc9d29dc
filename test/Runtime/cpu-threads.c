// Loading the same manifest from many threads, launching one handle from many
// threads, each with an error message of its own, and launching after a fork.
// RUN: %build_rt -lm
// RUN: %build_so %S/Inputs/cpu_kernel.c -o %t.kernel.so -lm
// RUN: rm -rf %t.dir && mkdir %t.dir && cp %t.kernel.so %t.dir/kernel.so && %t %t.dir
#include "check.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static attn_kernel *shared;

static void run(attn_kernel *kernel, float cap) {
  problem p;
  problem_init(&p, 2, 4, 2, 37, 11, NULL);
  for (size_t i = 0; i < p.floats; ++i)
    p.memory[i] = 1;
  p.cap = cap;
  EXPECT_OK(attn_kernel_launch(kernel, &p.launch));
  // All keys alike: the output is the value, lse = 8 * cap + 1 + log(11).
  for (int i = 0; i < 2 * 4 * 37; ++i) {
    float lse = ((float *)p.tensors[LSE].data)[i] - 8 * cap - 1 - 2.39789527f;
    EXPECT(((float *)p.tensors[O].data)[i * 16 + 3] == 1 && lse < 1e-4f && lse > -1e-4f);
  }
  free(p.memory);
}

static void *thread(void *arg) {
  int id = (int)(intptr_t)arg;
  for (int round = 0; round < 50; ++round) {
    run(shared, (float)id);
    attn_kernel *own;
    if (id % 2) {
      EXPECT_OK(attn_kernel_load(path_of("manifest.json"), &own));
      run(own, (float)id);
      attn_kernel_unload(own);
    } else {
      char name[32];
      snprintf(name, sizeof(name), "missing-%d.json", id);
      EXPECT_FAIL(attn_kernel_load(path_of(name), &own), ATTN_ERROR_FILE, name);
      sched_yield();
      EXPECT(strstr(attn_last_error(), name)); // another thread's failure does not show here
    }
  }
  return NULL;
}

int main(int argc, char **argv) {
  begin(argc, argv);
  EXPECT_OK(attn_kernel_load(write_file("manifest.json", MANIFEST(CPU_KERNEL)), &shared));
  attn_set_cpu_threads(3);
  pthread_t threads[8];
  for (intptr_t i = 0; i < 8; ++i)
    EXPECT(pthread_create(&threads[i], NULL, thread, (void *)i) == 0);
  for (int i = 0; i < 8; ++i)
    pthread_join(threads[i], NULL);

  // The workers do not come along into a forked child, which makes its own.
  for (int i = 0; i < 3; ++i) {
    pid_t child = fork();
    EXPECT(child >= 0);
    if (child == 0) {
      alarm(20); // a child that waits for workers that are not there must not hang the test
      run(shared, 5);
      _exit(0);
    }
    int status;
    EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    run(shared, 6);
  }
  attn_kernel_unload(shared);
  return 0;
}
