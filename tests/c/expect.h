/* What the test programs in C share: a line for each expectation that fails. */
#ifndef RONDO_TESTS_C_EXPECT_H
#define RONDO_TESTS_C_EXPECT_H

#include <stdio.h>
#include <string.h>

#include "rondo.h"

static int failures = 0;

#define EXPECT(what)                                            \
  do {                                                          \
    if (!(what)) {                                              \
      printf("FAILED: %s:%d: %s\n", __FILE__, __LINE__, #what); \
      ++failures;                                               \
    }                                                           \
  } while (0)

static int reads(rondo_text text, const char* expected) {
  if (text.size == strlen(expected) && memcmp(text.data, expected, text.size) == 0) return 1;
  printf("  expected %s\n  got      %.*s\n", expected, (int)text.size, text.data == NULL ? "" : text.data);
  return 0;
}

#endif
