// Values of JavaScript as tapes (src/rondo/json/tape.h): what crosses into the module instead of JSON text.

const NULL = -1, FALSE = -2, TRUE = -3, NUMBER = -4, ARRAY = -5, OBJECT = -6, KEY = -7;
const DEEPEST = 200;
const MOST_NAMES = 4096; // kept from one tape to the next
const LONGEST_NAME = 64; // of those
const WIDE = /[^\x00-\xff]/;
const { hasOwnProperty } = Object.prototype;

// The tape in the making.
let items = new Int32Array(1024);
let size = 0;
let text = '';
let busy = false;
// The names of members, each with the last tape that it stands in, its number as a key there, and the name that followed it last:
// most tapes have the same names in the same order as the one before.
const names = new Map();
let last = known('');
let tape = 0;
let keys = 0;

function known(name) {
  const made = { name, tape: 0, number: 0, next: undefined };
  made.next = made;
  return made;
}

function put(item) {
  if (size === items.length) {
    const larger = new Int32Array(2 * size);
    larger.set(items);
    items = larger;
  }
  items[size++] = item;
}

function putText(part) {
  put(part.length);
  text += part;
}

function putKey(name) {
  let key = last.next;
  if (key.name !== name) key = last.next = named(name);
  last = key;
  if (key.tape === tape) {
    put(key.number);
    return;
  }
  key.tape = tape;
  key.number = keys++;
  put(KEY);
  putText(name);
}

function named(name) {
  let found = names.get(name);
  if (found === undefined) {
    found = known(name);
    if (name.length <= LONGEST_NAME) names.set(name, found);
  }
  return found;
}

// The functions that follow return false where JSON.stringify() has rules of its own: for toJSON(), boxed values, large integers,
// objects of classes, and for nesting that it may refuse.
function putValue(value, depth) {
  switch (typeof value) {
    case 'string':
      putText(value);
      return true;
    case 'number':
      if (Number.isFinite(value)) {
        put(NUMBER);
        putText(String(value));
      } else {
        put(NULL);
      }
      return true;
    case 'boolean':
      put(value ? TRUE : FALSE);
      return true;
    case 'object':
      if (value !== null) return depth < DEEPEST && value.toJSON === undefined && (Array.isArray(value) ? putArray(value, depth + 1) : putObject(value, depth + 1));
      put(NULL);
      return true;
    case 'bigint':
      return false;
    default:
      put(NULL); // an element that JSON has not
      return true;
  }
}

function putArray(array, depth) {
  const { length } = array;
  put(ARRAY);
  put(length);
  for (let i = 0; i < length; ++i) if (!putValue(array[i], depth)) return false;
  return true;
}

function putObject(object, depth) {
  const kind = Object.getPrototypeOf(object);
  if (kind !== Object.prototype && kind !== null) return false;
  put(OBJECT);
  const place = size;
  put(0);
  let count = 0;
  for (const name in object) { // faster than over Object.keys()
    if (!hasOwnProperty.call(object, name)) continue;
    const member = object[name];
    if (member === undefined || typeof member === 'function' || typeof member === 'symbol') continue; // which JSON has not
    putKey(name);
    if (!putValue(member, depth)) return false;
    ++count;
  }
  items[place] = count;
  return true;
}

/**
 * {items, size, text, wide}: a tape of the value has the first `size` items, until the next tape is made, and the text, in units of
 * two bytes if `wide`.  undefined where only JSON will do.
 */
export function tapeOf(value) {
  if (typeof value !== 'object' || value === null || busy) return undefined; // busy: a getter asks
  busy = true;
  ++tape;
  try {
    return putValue(value, 0) ? { items, size, text, wide: WIDE.test(text) } : undefined;
  } finally {
    busy = false;
    size = 0;
    text = '';
    keys = 0;
    if (names.size > MOST_NAMES) {
      names.clear();
      last = known('');
    }
  }
}
