// A stand-in for the CUDA driver: two devices, contexts, memory that is host
// memory, and launches that are only written down. Names, numbers and rules are
// the real driver's (cuda.h); what it does is what the runtime's tests look at.
#include "fake_cuda.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int CUresult;
typedef struct context {
  int device, alive;
  unsigned long long id;
} context;
typedef struct stream {
  unsigned magic;
  context *of;
} stream;
typedef struct module {
  context *of;
  const char *text;
} module;
typedef struct function {
  module *of;
  char name[64];
} function;

static fake_state state = {.num_devices = 2,
                           .arch = {80, 90},
                           .smem_optin = {166912, 232448},
                           .num_sms = {108, 132},
                           .max_threads = 1024,
                           .driver_version = 12020};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local context *stack[8] = {NULL};
static _Thread_local int top;
static context contexts[16];
static int numContexts;
static struct {
  char *at;
  size_t bytes;
  context *of;
  int kind;
} memory[64];
static int numMemory;
static int initialised;

static void *makeContext(int device, int primary) {
  pthread_mutex_lock(&mutex);
  static context *primaries[2];
  context *c = primary ? primaries[device] : NULL;
  if (!c) {
    c = &contexts[numContexts++];
    *c = (context){device, 1, (unsigned long long)numContexts};
    if (primary)
      primaries[device] = c;
  }
  pthread_mutex_unlock(&mutex);
  return c;
}
static void *makeStream(void *of) {
  stream *s = malloc(sizeof(*s));
  *s = (stream){0x57e4, of};
  return s;
}
static void *makeMemory(void *of, size_t bytes, int kind) {
  pthread_mutex_lock(&mutex);
  char *at = aligned_alloc(256, (bytes + 255) / 256 * 256);
  memory[numMemory].at = at;
  memory[numMemory].bytes = bytes;
  memory[numMemory].of = of;
  memory[numMemory++].kind = kind;
  pthread_mutex_unlock(&mutex);
  return at;
}
static void setCurrent(void *c) { stack[top] = c; }
static void *current(void) { return stack[top]; }

const fake_api *fake_cuda(void);
const fake_api *fake_cuda(void) {
  static const fake_api api = {&state, makeContext, makeStream, makeMemory, setCurrent, current};
  return &api;
}

#define API __attribute__((visibility("default"))) CUresult

API cuInit(unsigned flags) {
  initialised = state.init_result == 0;
  return flags ? 1 : state.init_result;
}
API cuDriverGetVersion(int *v) { return *v = state.driver_version, 0; }
API cuGetErrorName(CUresult r, const char **s) {
  *s = r == 218   ? "CUDA_ERROR_INVALID_PTX"
       : r == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
       : r == 100 ? "CUDA_ERROR_NO_DEVICE"
                  : "CUDA_ERROR_OTHER";
  return 0;
}
API cuGetErrorString(CUresult r, const char **s) { return *s = "said by the stand-in", r == 999; }
API cuDeviceGet(int *d, int ordinal) { return ordinal < 0 || ordinal >= state.num_devices ? 101 : (*d = ordinal, 0); }
API cuDeviceGetName(char *name, int bytes, int device) {
  return snprintf(name, (size_t)bytes, "Fake GPU %d", device), initialised ? 0 : 3;
}
API cuDeviceGetAttribute(int *out, int attribute, int device) {
  *out = attribute == 75   ? state.arch[device] / 10
         : attribute == 76 ? state.arch[device] % 10
         : attribute == 16 ? state.num_sms[device]
         : attribute == 97 ? state.smem_optin[device]
                           : -1;
  return *out < 0;
}
API cuDevicePrimaryCtxRetain(context **c, int device) { return *c = makeContext(device, 1), 0; }
API cuDevicePrimaryCtxRelease_v2(int device) { return device < 0; }
API cuCtxGetCurrent(context **c) { return *c = stack[top], initialised ? 0 : 3; }
API cuCtxSetCurrent(context *c) { return stack[top] = c, 0; }
API cuCtxPushCurrent_v2(context *c) { return !c || !c->alive ? 201 : (stack[++top] = c, 0); }
API cuCtxPopCurrent_v2(context **c) {
  if (c)
    *c = stack[top];
  return top-- == 0;
}
API cuCtxGetDevice(int *device) { return stack[top] ? (*device = stack[top]->device, 0) : 201; }
API cuCtxGetId(context *c, unsigned long long *id) { return *id = c->id, 0; }
API cuCtxSynchronize(void) { return 0; }
API cuStreamGetCtx(stream *s, context **c) { return s->magic == 0x57e4 ? (*c = s->of, 0) : 400; }
API cuPointerGetAttributes(unsigned count, int *attributes, void **values, unsigned long long pointer) {
  int found = -1;
  for (int i = 0; i < numMemory; ++i)
    if ((char *)pointer >= memory[i].at && (char *)pointer < memory[i].at + memory[i].bytes)
      found = i;
  for (unsigned i = 0; i < count; ++i) {
    int kind = found < 0 ? -1 : memory[found].kind;
    if (attributes[i] == 1) // context
      *(context **)values[i] = kind < 0 || kind == 3 ? NULL : memory[found].of;
    else if (attributes[i] == 2) // memory type
      *(int *)values[i] = kind < 0 ? 0 : kind == 1 ? 1 : 2;
    else if (attributes[i] == 8) // managed
      *(int *)values[i] = kind == 2;
    else if (attributes[i] == 9) // device
      *(int *)values[i] = kind < 0 ? -2 : memory[found].of->device;
    else
      return 1;
  }
  return 0;
}

// Code is text: "PTX ..." or "CUBIN sm_NN ...", complete when it ends with "end".
API cuModuleLoadDataEx(module **out, const char *text, unsigned count, int *options, void **values) {
  usleep((unsigned)state.load_delay_us);
  pthread_mutex_lock(&mutex);
  ++state.loads;
  snprintf(state.loaded, sizeof(state.loaded), "%.*s", (int)strcspn(text, "\n"), text);
  pthread_mutex_unlock(&mutex);
  char *info = NULL, *error = NULL;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == 3)
      info = values[i];
    if (options[i] == 5)
      error = values[i];
  }
  if (!stack[top])
    return 201;
  if (state.load_result)
    return state.load_result;
  if (strstr(text, ".version 99"))
    return 222;
  if (strncmp(text, "CUBIN", 5) == 0 && atoi(text + 9) / 10 != state.arch[stack[top]->device] / 10)
    return 209;
  if (!strstr(text, "end")) {
    strcpy(error, "ptxas fatal   : Unexpected end of file");
    return strncmp(text, "CUBIN", 5) == 0 ? 200 : 218;
  }
  strcpy(info, "ptxas info    : 40 registers");
  *out = malloc(sizeof(module));
  **out = (module){stack[top], text};
  return 0;
}
API cuModuleUnload(module *m) {
  ++state.unloads;
  return m->of != stack[top];
}
API cuModuleGetFunction(function **f, module *m, const char *name) {
  if (!strstr(m->text, name))
    return 500;
  *f = malloc(sizeof(function));
  (*f)->of = m;
  snprintf((*f)->name, sizeof((*f)->name), "%s", name);
  return 0;
}
API cuFuncGetAttribute(int *out, int attribute, function *f) {
  *out = attribute == 0 ? state.max_threads : attribute == 1 ? state.static_smem : -1;
  return !f || *out < 0;
}
API cuFuncSetAttribute(function *f, int attribute, int value) {
  return f && attribute == 8 && value >= 0 ? state.smem_result : 1;
}
#ifndef WITHOUT_TENSOR_MAPS
// Holds a caller to what the driver's documentation asks for.
API cuTensorMapEncodeTiled(uint64_t *out, int type, unsigned rank, void *address, const unsigned long long *sizes,
                           const unsigned long long *strides, const unsigned *box, const unsigned *steps,
                           int interleave, int swizzle, int promotion, int fill) {
  if ((uintptr_t)out % 64 || (uintptr_t)address % 16 || rank < 1 || rank > 5 || swizzle < 1 || swizzle > 3)
    return 1;
  unsigned elementBytes = type == 6 || type == 9 ? 2 : type == 7 ? 4 : 0;
  int wrong = box[0] * elementBytes % 16 != 0 || box[0] * elementBytes > 16u << swizzle || interleave != 0;
  fake_map map = {type, interleave, swizzle, promotion, fill, rank, {0}, {0}, address, {0}, {0}};
  for (unsigned d = 0; d < rank; ++d) {
    map.sizes[d] = sizes[d];
    map.box[d] = box[d];
    map.steps[d] = steps[d];
    wrong |= sizes[d] < 1 || sizes[d] > 1ull << 32 || box[d] < 1 || box[d] > 256 || steps[d] < 1 || steps[d] > 8;
    if (d + 1 < rank) {
      map.strides[d] = strides[d];
      wrong |= strides[d] % 16 != 0 || strides[d] >> 40 != 0;
    }
  }
  if (wrong || state.map_result)
    return state.map_result ? state.map_result : 1;
  pthread_mutex_lock(&mutex);
  memset(out, 0xab, 128);
  *out = (uint64_t)(state.num_maps % 16);
  state.maps[state.num_maps++ % 16] = map;
  pthread_mutex_unlock(&mutex);
  return 0;
}
#endif

API cuLaunchKernel(function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned smem, void *s, void **params, void **extra) {
  if (state.launch_result)
    return state.launch_result;
  if (f->of->of != stack[top] || extra || gx == 0)
    return 400;
  pthread_mutex_lock(&mutex);
  fake_launch *l = &state.last[state.launches++ % 4];
  *l = (fake_launch){.device = stack[top]->device,
                     .context = stack[top],
                     .stream = s,
                     .grid = {gx, gy, gz},
                     .block = {bx, by, bz},
                     .smem = smem};
  snprintf(l->name, sizeof(l->name), "%s", f->name);
  for (int i = 0; i < state.num_params; ++i)
    memcpy(&l->params[i], params[i], 8);
  pthread_mutex_unlock(&mutex);
  return 0;
}

static CUresult fill(unsigned long long at, size_t pitch, const void *value, size_t bytes, size_t width,
                     size_t height) {
  ++state.memsets;
  if (height > 1 && pitch < width * bytes)
    return 1;
  for (size_t r = 0; r < height; ++r)
    for (size_t i = 0; i < width; ++i)
      memcpy((char *)at + r * pitch + i * bytes, value, bytes);
  return 0;
}
API cuMemsetD8Async(unsigned long long at, unsigned char v, size_t n, void *s) {
  return (void)s, fill(at, n, &v, 1, n, 1);
}
API cuMemsetD2D8Async(unsigned long long at, size_t pitch, unsigned char v, size_t w, size_t h, void *s) {
  return (void)s, fill(at, pitch, &v, 1, w, h);
}
API cuMemsetD2D16Async(unsigned long long at, size_t pitch, unsigned short v, size_t w, size_t h, void *s) {
  return (void)s, fill(at, pitch, &v, 2, w, h);
}
API cuMemsetD2D32Async(unsigned long long at, size_t pitch, unsigned v, size_t w, size_t h, void *s) {
  return (void)s, fill(at, pitch, &v, 4, w, h);
}

API cuMemAlloc_v2(unsigned long long *out, size_t bytes) {
  if (bytes > (size_t)1 << 30)
    return 2;
  return *out = (unsigned long long)(uintptr_t)makeMemory(stack[top], bytes, 0), 0;
}
API cuMemFree_v2(unsigned long long at) { return at == 0; }
API cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t bytes) {
  return memcpy((void *)to, from, bytes), 0;
}
API cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t bytes) { return memcpy(to, (void *)from, bytes), 0; }
API cuEventCreate(void **e, unsigned flags) { return *e = &state, (int)flags; }
API cuEventDestroy_v2(void *e) { return !e; }
API cuEventRecord(void *e, void *s) { return (void)s, !e; }
API cuEventSynchronize(void *e) { return !e; }
API cuEventElapsedTime(float *ms, void *a, void *b) { return *ms = 1.5f, !a || !b; }
