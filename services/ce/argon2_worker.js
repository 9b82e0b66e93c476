// Runs in a worker, after the script of hash-wasm, which defines `hashwasm`.
addEventListener("message", async ({ data }) => {
  try {
    postMessage({ hash: await globalThis.hashwasm.argon2id(data) });
  } catch (error) {
    postMessage({ error: String(error) });
  }
  // Each hash has a memory of its own. V8 would let several pile up before it frees them; the timer
  // lets go of the last reference first.
  setTimeout(() => globalThis.gc?.(), 0);
});
