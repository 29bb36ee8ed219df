// The library in a thread of its own: a template that never ends, or a stack that is used up, leaves the page as it was.
// import { MemoryFiles, Rondo } stands above, where the page is put together.

let rondo;

const actions = {
  start: ({ module, files }) => {
    rondo = new Rondo(module, { files: new MemoryFiles(files) });
  },
  ask: ({ line }) => rondo.batchLine(line),
};

onmessage = ({ data: { id, kind, ...rest } }) => {
  try {
    postMessage({ id, reply: actions[kind](rest) });
  } catch (error) {
    postMessage({ id, failed: error.message });
  }
};
