//===- Crash.cpp - the last line of defence
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Crash.h"

#include <csignal>
#include <cstring>
#include <initializer_list>
#include <unistd.h>

static const char *crashInput = "";
static const char *volatile crashPhase = "starting";

/// Only write() and _exit() are safe here.
static void onCrash(int) {
  auto say = [](const char *text) {
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
      _exit(1);
  };
  say(crashInput);
  say(": error: the compiler crashed, or ran out of stack on something nested too deep, while ");
  say(crashPhase);
  say("\n");
  _exit(1);
}

void attn::catchCrashes(const char *input) {
  crashInput = input;
  // After an overflow there is no stack left to handle it on.
  static char stack[64 << 10];
  stack_t alternate = {};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof(stack);
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_handler = onCrash;
  action.sa_flags = SA_ONSTACK;
  for (int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE})
    sigaction(signal, &action, nullptr);
}

void attn::setCrashPhase(const char *phase) { crashPhase = phase; }
