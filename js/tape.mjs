// Values of JavaScript as tapes (src/rondo/json/tape.h): what crosses into the module instead of JSON text.

const NULL = -1, FALSE = -2, TRUE = -3, NUMBER = -4, ARRAY = -5, OBJECT = -6, KEY = -7;
const DEEPEST = 200;
const WIDE = /[^\x00-\xff]/;

// The tape in the making.
let items = new Int32Array(1024);
let size = 0;
let parts = []; // of the text
let keys = new Map();
let busy = false;

function put(item) {
  if (size === items.length) {
    const larger = new Int32Array(2 * size);
    larger.set(items);
    items = larger;
  }
  items[size++] = item;
}

function putText(text) {
  put(text.length);
  parts.push(text);
}

function putKey(name) {
  const known = keys.get(name);
  if (known !== undefined) return put(known);
  keys.set(name, keys.size);
  put(KEY);
  putText(name);
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
  for (const name of Object.keys(object)) {
    const member = object[name];
    if (member === undefined || typeof member === 'function' || typeof member === 'symbol') continue; // which JSON has not
    putKey(name);
    if (!putValue(member, depth)) return false;
    ++count;
  }
  items[place] = count;
  return true;
}

/** {items, text, wide}: what a tape of the value has, its text in units of two bytes if `wide`; undefined where only JSON will do. */
export function tapeOf(value) {
  if (typeof value !== 'object' || value === null || busy) return undefined; // busy: a getter asks
  busy = true;
  try {
    if (!putValue(value, 0)) return undefined;
    const text = parts.join('');
    return { items: items.slice(0, size), text, wide: WIDE.test(text) };
  } finally {
    busy = false;
    size = 0;
    parts = [];
    keys = new Map();
  }
}
