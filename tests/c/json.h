/* JSON text in place: finds members and elements of what is known to be valid.  For the tests in C. */
#ifndef RONDO_TESTS_C_JSON_H
#define RONDO_TESTS_C_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "rondo.h"

/* Whether the texts are the same. */
int text_equals(rondo_text left, rondo_text right);
rondo_text text_of(const char* zero_ended);

/* The value without the white space around it. */
int json_is(rondo_text value, char first);
int json_is_null(rondo_text value);

/* The next member of an object, or element of an array (`name` is empty then); `at` begins as 0.  0: there is none. */
int json_next(rondo_text value, size_t* at, rondo_text* name, rondo_text* member);
/* The last member of that name, as the library takes it; 0: there is none, or it is null. */
int json_find(rondo_text object, const char* name, rondo_text* member);

/* The string behind a value: a new text with a 0 behind it, to be freed.  The value is a string. */
char* json_string(rondo_text value, size_t* size);
/* The numbers of an array, to be freed; NULL if one of them is no int32_t. */
int32_t* json_ids(rondo_text value, size_t* count);

/* Text that grows; `data` is to be freed. */
typedef struct buffer {
  char* data;
  size_t size;
} buffer;
void buffer_add(buffer* out, const char* data, size_t size);
void buffer_say(buffer* out, const char* zero_ended);

#endif
