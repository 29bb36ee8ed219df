// Model files that are opened or dropped: what they are, and the template among them.

const LARGEST = 256 << 20;
const KNOWN = /^(tokenizer\.json|tokenizer_config\.json|special_tokens_map\.json|added_tokens\.json|generation_config\.json|config\.json|tekken\.json|vocab\.json|merges\.txt|chat_template\.json|.*\.jinja|.*\.model|.*\.tiktoken)$/;
const TOKENIZER = /^(tokenizer\.json|tekken\.json|.*\.model|.*\.tiktoken)$/;

export const FOLDER = 'model';

function templateOf(texts) {
  const jinja = Object.keys(texts).find((name) => name === 'chat_template.jinja') ?? Object.keys(texts).find((name) => name.endsWith('.jinja'));
  if (jinja !== undefined) return texts[jinja];
  for (const name of ['chat_template.json', 'tokenizer_config.json']) {
    if (texts[name] === undefined) continue;
    const found = JSON.parse(texts[name]).chat_template;
    if (typeof found === 'string') return found;
    if (Array.isArray(found)) return (found.find((one) => one.name === 'default') ?? found[0])?.template;
  }
  return undefined;
}

/** {files: by path, template?, hasTokenizer, notes: sentences} */
export async function readFiles(list) {
  const files = {};
  const texts = {};
  const notes = [];
  for (const file of list) {
    const name = file.name;
    if (!KNOWN.test(name)) {
      notes.push(`${name} was left out: the page reads templates, tokenizers and their settings.`);
    } else if (file.size > LARGEST) {
      notes.push(`${name} was left out: it has more than ${LARGEST >> 20} MB.`);
    } else {
      const bytes = new Uint8Array(await file.arrayBuffer());
      files[`${FOLDER}/${name}`] = bytes;
      if (/\.(jinja|json)$/.test(name)) texts[name] = new TextDecoder().decode(bytes);
    }
  }
  let template;
  try {
    template = templateOf(texts);
  } catch (error) {
    notes.push(`The chat template in these files cannot be read: ${error.message}`);
  }
  const hasTokenizer = Object.keys(files).some((path) => TOKENIZER.test(path.slice(FOLDER.length + 1)));
  return { files, template, hasTokenizer, notes };
}
