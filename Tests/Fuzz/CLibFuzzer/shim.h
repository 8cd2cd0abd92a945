// What the compiler's fuzzing library offers to a program that has its own main.
// Source: LLVM, "libFuzzer – a library for coverage-guided fuzz testing", Using libFuzzer as a library.
#pragma once
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*test)(const uint8_t *data, size_t size));
