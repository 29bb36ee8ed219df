// The goldens of the line protocol, which the library answers natively too.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';

import { Rondo } from '../rondo.mjs';

const FOLDER = process.env.RONDO_GOLDENS;
assert.ok(FOLDER, 'RONDO_GOLDENS names the folder tests/golden/batch');

const files = {
  read(path) {
    const file = join(FOLDER, path);
    return existsSync(file) && statSync(file).isFile() ? readFileSync(file) : undefined;
  },
  list(path) {
    const folder = join(FOLDER, path);
    return existsSync(folder) && statSync(folder).isDirectory() ? readdirSync(folder) : undefined;
  },
};
const rondo = await Rondo.load({ files, now: '2026-03-14T00:00:00' });

for (const name of readdirSync(FOLDER).filter((file) => file.endsWith('.txt')).sort()) {
  test(name, () => {
    let asked = 0;
    let request;
    for (const line of readFileSync(join(FOLDER, name), 'utf8').split('\n')) {
      if (line.startsWith('< ')) request = line.slice(2);
      if (!line.startsWith('> ')) continue;
      assert.equal(rondo.batchLine(request), line.slice(2), request);
      ++asked;
    }
    assert.ok(asked > 0);
  });
}
