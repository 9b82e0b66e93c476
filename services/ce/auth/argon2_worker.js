// Runs in a worker, after the script of hash-wasm, which defines `hashwasm`.
addEventListener("message", async ({ data }) => {
  let answer;
  try {
    answer = { hash: await globalThis.hashwasm.argon2id(data) };
  } catch (error) {
    answer = { error: String(error) };
  }
  // Each hash has a memory of its own, of which V8 would let several pile up. It is freed before the
  // answer; the timer lets go of the last reference first.
  setTimeout(() => {
    globalThis.gc?.();
    postMessage(answer);
  }, 0);
});
