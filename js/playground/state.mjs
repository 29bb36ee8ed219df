// The page's state in a link: deflated JSON behind the #.

const FIELDS = ['template', 'request', 'answer'];
const LONGEST = 4 << 20; // of the unpacked text

async function through(bytes, stream) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

export async function toHash(state) {
  const kept = Object.fromEntries(FIELDS.map((name) => [name, state[name]]));
  const bytes = await through(new TextEncoder().encode(JSON.stringify(kept)), new CompressionStream('deflate-raw'));
  let letters = '';
  for (const byte of bytes) letters += String.fromCharCode(byte);
  return `#${btoa(letters).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
}

/** The state of a link, or undefined where it holds none.  Throws an Error where it is damaged. */
export async function fromHash(hash) {
  if (hash.length < 2) return undefined;
  try {
    const letters = atob(hash.slice(1).replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = await through(Uint8Array.from(letters, (letter) => letter.charCodeAt(0)), new DecompressionStream('deflate-raw'));
    if (bytes.length > LONGEST) throw new Error('too long');
    const state = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (!FIELDS.every((name) => typeof state[name] === 'string')) throw new Error('a field is missing');
    return state;
  } catch (error) {
    throw new Error('The link is damaged or cut off: what it held cannot be read.', { cause: error });
  }
}
