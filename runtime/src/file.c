//===- file.c - reading files, and memory that is freed together ----------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE in the project root for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static attn_status readOpen(int fd, const char *path, size_t max_bytes, char **data, size_t *bytes) {
  struct stat info;
  if (fstat(fd, &info) != 0)
    return attn_fail(ATTN_ERROR_FILE, "%s: cannot be read: %s", path, strerror(errno));
  if (!S_ISREG(info.st_mode))
    return attn_fail(ATTN_ERROR_FILE, "%s: is %s, expected a file", path,
                     S_ISDIR(info.st_mode) ? "a directory" : "no regular file");
  if ((uint64_t)info.st_size > max_bytes)
    return attn_fail(ATTN_ERROR_FILE, "%s: has %lld bytes, expected at most %zu", path, (long long)info.st_size,
                     max_bytes);
  size_t want = (size_t)info.st_size, have = 0;
  char *text = malloc(want + 1);
  if (!text)
    return attn_fail(ATTN_ERROR_OUT_OF_MEMORY, "%s: no memory for its %zu bytes", path, want);
  while (have < want) {
    ssize_t got = read(fd, text + have, want - have);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0) {
      attn_fail(ATTN_ERROR_FILE, "%s: cannot be read: %s", path, strerror(errno));
      free(text);
      return ATTN_ERROR_FILE;
    }
    if (got == 0) // it became shorter since fstat
      break;
    have += (size_t)got;
  }
  text[have] = 0;
  *data = text;
  *bytes = have;
  return ATTN_OK;
}

attn_status attn_read_file(const char *path, size_t max_bytes, char **data, size_t *bytes) {
  // O_NONBLOCK: a named pipe given by mistake must not hang the load.
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return attn_fail(ATTN_ERROR_FILE, "%s: cannot be opened: %s", path, strerror(errno));
  attn_status status = readOpen(fd, path, max_bytes, data, bytes);
  close(fd);
  return status;
}

char *attn_path_beside(const char *beside, const char *name) {
  const char *slash = strrchr(beside, '/');
  // "./" when there is no folder: dlopen searches its own places for a bare name.
  const char *folder = slash ? beside : "./";
  size_t folderBytes = slash ? (size_t)(slash - beside) + 1 : 2, nameBytes = strlen(name) + 1;
  char *path = malloc(folderBytes + nameBytes);
  if (!path)
    return NULL;
  memcpy(path, folder, folderBytes);
  memcpy(path + folderBytes, name, nameBytes);
  return path;
}

struct attn_arena_block {
  struct attn_arena_block *next;
  // Aligned for any type the manifest structs hold.
  _Alignas(16) unsigned char bytes[];
};

void *attn_arena_alloc(attn_arena *arena, size_t bytes) {
  struct attn_arena_block *block = calloc(1, sizeof(*block) + bytes);
  if (!block)
    return NULL;
  block->next = arena->blocks;
  arena->blocks = block;
  return block->bytes;
}

char *attn_arena_string(attn_arena *arena, const char *text) {
  size_t bytes = strlen(text) + 1;
  char *copy = attn_arena_alloc(arena, bytes);
  return copy ? memcpy(copy, text, bytes) : NULL;
}

void attn_arena_free(attn_arena *arena) {
  while (arena->blocks) {
    struct attn_arena_block *next = arena->blocks->next;
    free(arena->blocks);
    arena->blocks = next;
  }
}
