// The little every runtime test needs: expectations that say where they failed,
// files in the test's own folder, manifests made from one text by replacement.
#ifndef CHECK_H
#define CHECK_H

#include "attn_rt/attn_rt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FAIL(...)                                                                                                      \
  (fprintf(stderr, "%s:%d: ", __FILE__, __LINE__), fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))
#define EXPECT(condition)                                                                                              \
  do {                                                                                                                 \
    if (!(condition))                                                                                                  \
      FAIL("not true: %s", #condition);                                                                                \
  } while (0)
#define EXPECT_OK(call)                                                                                                \
  do {                                                                                                                 \
    attn_status s_ = (call);                                                                                           \
    if (s_ != ATTN_OK)                                                                                                 \
      FAIL("%s: %s", attn_status_name(s_), attn_last_error());                                                         \
    EXPECT(attn_last_error()[0] == 0);                                                                                 \
  } while (0)
/// The status, and a message that contains `text`.
#define EXPECT_FAIL(call, status, text)                                                                                \
  do {                                                                                                                 \
    attn_status s_ = (call);                                                                                           \
    if (s_ != (status) || !strstr(attn_last_error(), text))                                                            \
      FAIL("expected %s \"%s\"\n     got %s \"%s\"", attn_status_name(status), text, attn_status_name(s_),             \
           attn_last_error());                                                                                         \
  } while (0)

static const char *folder; // argv[1]

static inline char *path_of(const char *name) {
  static _Thread_local char path[4096];
  snprintf(path, sizeof(path), "%s/%s", folder, name);
  return path;
}
static inline void begin(int argc, char **argv) {
  EXPECT(argc >= 2);
  folder = argv[1];
  mkdir(folder, 0777);
}
static inline const char *write_file(const char *name, const char *text) {
  FILE *f = fopen(path_of(name), "wb");
  EXPECT(f && fputs(text, f) >= 0 && fclose(f) == 0);
  return path_of(name);
}
/// `text` with the first `from` replaced (malloc'ed); `from` must be there.
static inline char *replaced(const char *text, const char *from, const char *to) {
  const char *at = strstr(text, from);
  if (!at)
    FAIL("the text has no %s", from);
  char *out = malloc(strlen(text) + strlen(to) + 1);
  sprintf(out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
  return out;
}

// A forward attention with a captured tensor and a captured scalar, as the
// compiler writes it. KERNEL is the part that depends on the target.
#define MANIFEST(KERNEL)                                                                                               \
  "{\"attn_manifest\": 1,\n"                                                                                           \
  " \"meaning\": {\"op\": \"sdpa\", \"scale\": 0.0883883461},\n"                                                       \
  " \"sizes\": {\"batch\": [\"q\", 0], \"q_heads\": [\"q\", 1], \"q_len\": [\"q\", 2], \"k_heads\": [\"k\", 1], "      \
  "\"k_len\": [\"k\", 2]},\n"                                                                                          \
  " \"operands\": [\n"                                                                                                 \
  "  {\"name\": \"q\", \"role\": \"in\", \"type\": \"f32\", \"dims\": [\"batch\", \"q_heads\", \"q_len\", 8]},\n"      \
  "  {\"name\": \"k\", \"role\": \"in\", \"type\": \"f32\", \"dims\": [\"batch\", \"k_heads\", \"k_len\", 8]},\n"      \
  "  {\"name\": \"v\", \"role\": \"in\", \"type\": \"f32\", \"dims\": [\"batch\", \"k_heads\", \"k_len\", 16]},\n"     \
  "  {\"name\": \"slopes\", \"role\": \"capture\", \"type\": \"f32\", \"dims\": [null]},\n"                            \
  "  {\"name\": \"cap\", \"role\": \"scalar\", \"type\": \"f32\", \"dims\": []},\n"                                    \
  "  {\"name\": \"o\", \"role\": \"out\", \"type\": \"f32\", \"dims\": [\"batch\", \"q_heads\", \"q_len\", 16]},\n"    \
  "  {\"name\": \"lse\", \"role\": \"out\", \"type\": \"f32\", \"dims\": [\"batch\", \"q_heads\", \"q_len\"]}],\n"     \
  " \"require\": [{\"divides\": [\"k_heads\", \"q_heads\"]}],\n"                                                       \
  " \"empty\": [{\"zero\": [\"batch\", \"q_heads\", \"q_len\"], \"do\": \"nothing\"}, "                                \
  "{\"zero\": [\"k_len\"], \"fill\": {\"o\": 0, \"lse\": \"-inf\"}}],\n"                                               \
  " \"workspace\": [],\n"                                                                                              \
  " \"values\": {\"section\": {\"rule\": \"largest_divisor\", \"of\": [\"batch\", \"q_heads\"], \"unit_bytes\": "      \
  "[\"k_len\", 32], \"whole\": 3, \"budget\": 4096}},\n"                                                               \
  " \"kernels\": [{\"name\": \"attention_fwd\", " KERNEL ",\n"                                                         \
  "  \"tiles\": [{\"ceil\": \"q_len\", \"by\": 4}, \"q_heads\", \"batch\"], \"grid\": \"one_per_tile\",\n"             \
  "  \"args\": [{\"ptr\": \"q\"}, {\"strides\": \"q\"}, {\"sizes\": \"q\"}, {\"ptr\": \"k\"}, {\"strides\": \"k\"}, "  \
  "{\"sizes\": \"k\"},\n"                                                                                              \
  "   {\"ptr\": \"v\"}, {\"strides\": \"v\"}, {\"sizes\": \"v\"}, {\"ptr\": \"slopes\"}, {\"strides\": \"slopes\"}, "  \
  "{\"sizes\": \"slopes\"},\n"                                                                                         \
  "   {\"f32\": \"cap\"}, {\"ptr\": \"o\"}, {\"strides\": \"o\"}, {\"sizes\": \"o\"}, {\"ptr\": \"lse\"}, "            \
  "{\"strides\": \"lse\"}, {\"sizes\": \"lse\"},\n"                                                                    \
  "   {\"value\": \"section\"}]}]}\n"
#define CPU_KERNEL "\"chip\": \"cpu\", \"code\": \"kernel.so\""
#define GPU_KERNEL                                                                                                     \
  "\"chip\": \"sm_80\", \"ptx\": \"fwd.ptx\", \"cubin\": \"fwd.cubin\", \"threads\": 128, \"smem_bytes\": 98304"
#define NUM_PARAMS (8 + 8 + 8 + 2 + 1 + 8 + 6 + 1)
enum { Q, K, V, SLOPES, CAP, O, LSE, NUM_OPERANDS };

/// A dense view.
static inline attn_tensor view(void *data, uint32_t rank, int64_t a, int64_t b, int64_t c, int64_t d) {
  attn_tensor t = {.size = sizeof(t), .dtype = ATTN_F32, .data = data, .rank = rank, .sizes = {a, b, c, d}};
  int64_t stride = 1;
  for (uint32_t i = rank; i-- > 0; stride *= t.sizes[i])
    t.strides[i] = stride;
  return t;
}

/// The operands of one launch of MANIFEST, all dense and in one block of memory.
typedef struct problem {
  attn_tensor tensors[NUM_OPERANDS];
  const attn_tensor *operands[NUM_OPERANDS];
  float cap;
  float *memory;
  size_t floats;
  attn_launch launch;
} problem;
static inline void problem_init(problem *p, int64_t b, int64_t hq, int64_t hk, int64_t sq, int64_t sk, float *memory) {
  const int64_t counts[] = {b * hq * sq * 8, b * hk * sk * 8, b * hk * sk * 16, hq, 0, b * hq * sq * 16, b * hq * sq};
  p->floats = 0;
  float *at[NUM_OPERANDS];
  for (int i = 0; i < NUM_OPERANDS; ++i)
    p->floats += (size_t)counts[i];
  p->memory = memory ? memory : malloc((p->floats + 1) * sizeof(float));
  float *next = p->memory;
  for (int i = 0; i < NUM_OPERANDS; ++i) {
    at[i] = next;
    next += counts[i];
  }
  p->cap = 2.5f;
  p->tensors[Q] = view(at[Q], 4, b, hq, sq, 8);
  p->tensors[K] = view(at[K], 4, b, hk, sk, 8);
  p->tensors[V] = view(at[V], 4, b, hk, sk, 16);
  p->tensors[SLOPES] = view(at[SLOPES], 1, hq, 0, 0, 0);
  p->tensors[CAP] = view(&p->cap, 0, 0, 0, 0, 0);
  p->tensors[O] = view(at[O], 4, b, hq, sq, 16);
  p->tensors[LSE] = view(at[LSE], 3, b, hq, sq, 0);
  for (int i = 0; i < NUM_OPERANDS; ++i)
    p->operands[i] = &p->tensors[i];
  p->launch = (attn_launch){.size = sizeof(attn_launch), .num_operands = NUM_OPERANDS, .operands = p->operands};
}

#endif
