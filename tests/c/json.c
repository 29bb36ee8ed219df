#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int text_equals(rondo_text left, rondo_text right) {
  return left.size == right.size && (left.size == 0 || memcmp(left.data, right.data, left.size) == 0);
}

rondo_text text_of(const char* zero_ended) {
  rondo_text out;
  out.data = zero_ended;
  out.size = strlen(zero_ended);
  return out;
}

int json_is(rondo_text value, char first) { return value.size > 0 && value.data[0] == first; }

int json_is_null(rondo_text value) { return json_is(value, 'n'); }

static size_t skip_space(rondo_text text, size_t at) {
  while (at < text.size && strchr(" \t\r\n", text.data[at]) != NULL) ++at;
  return at;
}

static size_t skip_string(rondo_text text, size_t at) {
  for (++at; at < text.size && text.data[at] != '"'; ++at) {
    if (text.data[at] == '\\') ++at;
  }
  return at + 1;
}

static size_t skip_value(rondo_text text, size_t at) {
  int depth = 0;
  for (; at < text.size; ++at) {
    const char c = text.data[at];
    if (c == '"') at = skip_string(text, at) - 1;
    if (c == '{' || c == '[') ++depth;
    if (depth == 0 && (c == ',' || c == '}' || c == ']' || strchr(" \t\r\n", c) != NULL)) break;
    if ((c == '}' || c == ']') && --depth == 0) return at + 1;
  }
  return at;
}

int json_next(rondo_text value, size_t* at, rondo_text* name, rondo_text* member) {
  size_t i = skip_space(value, *at == 0 ? 1 : *at);
  size_t end;
  if (i < value.size && value.data[i] == ',') i = skip_space(value, i + 1);
  if (i >= value.size || value.data[i] == '}' || value.data[i] == ']') return 0;
  name->data = "";
  name->size = 0;
  if (json_is(value, '{')) {
    end = skip_string(value, i);
    name->data = value.data + i + 1;
    name->size = end - i - 2;
    i = skip_space(value, skip_space(value, end) + 1);
  }
  end = skip_value(value, i);
  member->data = value.data + i;
  member->size = end - i;
  *at = end;
  return 1;
}

int json_find(rondo_text object, const char* name, rondo_text* member) {
  const rondo_text wanted = text_of(name);
  rondo_text seen;
  rondo_text value;
  size_t at = 0;
  int found = 0;
  while (json_next(object, &at, &seen, &value)) {
    if (!text_equals(seen, wanted)) continue;
    *member = value;
    found = !json_is_null(value);
  }
  return found;
}

static unsigned hex(const char* at) {
  char digits[5] = {0};
  memcpy(digits, at, 4);
  return (unsigned)strtoul(digits, NULL, 16);
}

static size_t put_utf8(unsigned long code, char* out) {
  if (code < 0x80) {
    out[0] = (char)code;
    return 1;
  }
  if (code < 0x800) {
    out[0] = (char)(0xC0 | (code >> 6));
    out[1] = (char)(0x80 | (code & 0x3F));
    return 2;
  }
  if (code < 0x10000) {
    out[0] = (char)(0xE0 | (code >> 12));
    out[1] = (char)(0x80 | ((code >> 6) & 0x3F));
    out[2] = (char)(0x80 | (code & 0x3F));
    return 3;
  }
  out[0] = (char)(0xF0 | (code >> 18));
  out[1] = (char)(0x80 | ((code >> 12) & 0x3F));
  out[2] = (char)(0x80 | ((code >> 6) & 0x3F));
  out[3] = (char)(0x80 | (code & 0x3F));
  return 4;
}

char* json_string(rondo_text value, size_t* size) {
  static const char kEscapes[] = "\"\\/bfnrt";
  static const char kMeant[] = "\"\\/\b\f\n\r\t";
  char* out = malloc(value.size + 1);
  size_t i;
  *size = 0;
  for (i = 1; i + 1 < value.size; ++i) {
    if (value.data[i] != '\\') {
      out[(*size)++] = value.data[i];
    } else if (value.data[++i] != 'u') {
      out[(*size)++] = kMeant[strchr(kEscapes, value.data[i]) - kEscapes];
    } else {
      unsigned long code = hex(value.data + i + 1);
      i += 4;
      if (code >= 0xD800 && code < 0xDC00 && value.data[i + 1] == '\\' && value.data[i + 2] == 'u') {
        code = 0x10000 + ((code - 0xD800) << 10) + (hex(value.data + i + 3) - 0xDC00);
        i += 6;
      }
      *size += put_utf8(code, out + *size);
    }
  }
  out[*size] = 0;
  return out;
}

int32_t* json_ids(rondo_text value, size_t* count) {
  int32_t* out = malloc((value.size + 1) * sizeof(int32_t));
  rondo_text name;
  rondo_text element;
  size_t at = 0;
  *count = 0;
  while (json_next(value, &at, &name, &element)) {
    char* end = NULL;
    const long long number = strtoll(element.data, &end, 10);
    if (end != element.data + element.size || number < INT32_MIN || number > INT32_MAX) {
      free(out);
      return NULL;
    }
    out[(*count)++] = (int32_t)number;
  }
  return out;
}

void buffer_add(buffer* out, const char* data, size_t size) {
  out->data = realloc(out->data, out->size + size + 1);
  if (size != 0) memcpy(out->data + out->size, data, size);
  out->size += size;
  out->data[out->size] = 0;
}

void buffer_say(buffer* out, const char* zero_ended) { buffer_add(out, zero_ended, strlen(zero_ended)); }
