// Templates laid out for reading: a line for each statement, expression and text, indented by the blocks that they are in.

const SPACE = '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]'; // Python's
const SPACES = new RegExp(`${SPACE}+`, 'y');
const SPACES_BEHIND = new RegExp(`${SPACE}+$`);
const SPACES_ONLY = new RegExp(`^${SPACE}*$`);
const OPENERS = /\{[{%#]/g;
const INSIDE = /'(?:[^'\\]|\\[^])*'|"(?:[^"\\]|\\[^])*"|[[({]|[\])}]|[=!<>]=|=|[^]/y;

// The code between marks: {code, assigns, end}; `code` with one space where there were several, `end` where the closing mark begins.
function codeAt(source, begin, closing) {
  let code = '';
  let depth = 0;
  let assigns = false;
  let at = begin;
  while (at < source.length) {
    const sign = /[-+]/.test(source[at]) ? 1 : 0;
    if (depth === 0 && source.startsWith(closing, at + sign)) break;
    SPACES.lastIndex = INSIDE.lastIndex = at;
    const space = SPACES.exec(source);
    const [piece] = space ?? INSIDE.exec(source);
    code += space ? ' ' : piece;
    if (/^[[({]$/.test(piece)) ++depth;
    else if (/^[\])}]$/.test(piece)) --depth;
    else if (piece === '=' && depth === 0) assigns = true;
    at += piece.length;
  }
  return { code: code.trim(), assigns, end: at };
}

// Where text goes on behind the closing mark at `at`, whose newline belongs to it unless it is an expression's or `raw`'s.
function behind(source, at, keepsNewline) {
  const sign = source[at];
  let next = at + (sign === '-' || sign === '+' ? 3 : 2);
  if (sign === '-') {
    SPACES.lastIndex = next;
    next += SPACES.exec(source)?.[0].length ?? 0;
  } else if (sign !== '+' && !keepsNewline && source[next] === '\n') {
    ++next;
  }
  return next;
}

// Text without what the mark behind it takes away.
function textBefore(text, sign, isExpression, startsLine) {
  if (sign === '-') return text.replace(SPACES_BEHIND, '');
  if (sign === '+' || isExpression) return text;
  const line = text.lastIndexOf('\n') + 1;
  return (line > 0 || startsLine) && SPACES_ONLY.test(text.slice(line)) ? text.slice(0, line) : text;
}

// Texts, expressions, comments and statements in their order: {kind, code, name, assigns}.
function partsOf(source) {
  const parts = [];
  let at = 0;
  const put = (text) => { if (text !== '') parts.push({ kind: 'text', code: text }); };
  while (at < source.length) {
    OPENERS.lastIndex = at;
    const begin = OPENERS.exec(source)?.index ?? source.length;
    const kind = { '{': 'expression', '%': 'statement', '#': 'comment' }[source[begin + 1]];
    const startsLine = at === 0 || source[at - 1] === '\n';
    const sign = source[begin + 2];
    put(begin === source.length ? source.slice(at) : textBefore(source.slice(at, begin), sign, kind === 'expression', startsLine));
    if (begin === source.length) break;
    const inside = begin + (sign === '-' || sign === '+' ? 3 : 2);
    if (kind === 'comment') {
      const found = source.indexOf('#}', inside);
      const end = found > inside && /[-+]/.test(source[found - 1]) ? found - 1 : found;
      parts.push({ kind, code: source.slice(inside, end).trim() });
      at = behind(source, end, false);
      continue;
    }
    const { code, assigns, end } = codeAt(source, inside, kind === 'expression' ? '}}' : '%}');
    const isRaw = kind === 'statement' && code === 'raw';
    at = behind(source, end, kind === 'expression' || isRaw);
    if (isRaw) {
      const closing = /\{%([-+]?)\s*endraw\s*[-+]?%\}/g;
      closing.lastIndex = at;
      const found = closing.exec(source);
      put(textBefore(source.slice(at, found.index), found[1], false, source[at - 1] === '\n'));
      at = behind(source, found.index + found[0].search(/[-+]?%\}$/), false);
    } else {
      parts.push({ kind, code, assigns, name: kind === 'statement' ? /^\w*/.exec(code)[0] : undefined });
    }
  }
  return parts;
}

// The statements that something ends later.
function blocksOf(parts) {
  const blocks = new Set();
  const open = [];
  for (const part of parts.filter(({ kind }) => kind === 'statement')) {
    const at = part.name.startsWith('end') ? open.findLastIndex(({ name }) => `end${name}` === part.name) : -1;
    if (at >= 0) blocks.add(open.splice(at)[0]);
    else if (part.name !== 'set' || !part.assigns) open.push(part);
  }
  return blocks;
}

/** The template `text`, which must be a correct one, in a layout that writes the same. */
export function formatted(text, indent = '\t') {
  const step = typeof indent === 'number' ? ' '.repeat(indent) : indent;
  const parts = partsOf(text.replace(/\r\n?/g, '\n').replace(/\n$/, ''));
  const blocks = blocksOf(parts);
  const lines = [];
  let depth = 0;
  for (const part of parts) {
    const isEnd = part.kind === 'statement' && part.name.startsWith('end');
    if (isEnd) --depth;
    const goesOn = part.name === 'else' || part.name === 'elif';
    const pad = step.repeat(Math.max(depth - (goesOn ? 1 : 0), 0));
    if (part.kind === 'text') lines.push(`${pad}{{- ${JSON.stringify(part.code)} -}}`);
    else if (part.kind === 'expression') lines.push(`${pad}{{- ${part.code} -}}`);
    else if (part.kind === 'comment') lines.push(`${pad}{#- ${part.code} -#}`);
    else lines.push(`${pad}{%- ${part.code} -%}`);
    if (blocks.has(part)) ++depth;
  }
  return lines.join('\n');
}
