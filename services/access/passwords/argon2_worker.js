// Runs in a worker, after the script of hash-wasm, which defines `hashwasm`.
addEventListener("message", async ({ data }) => {
  let answer;
  try {
    answer = { hash: await globalThis.hashwasm.argon2id(data) };
  } catch (error) {
    answer = { error: String(error) };
  }
  // Each hash allocates its own memory, which V8 would collect late. It is freed before the answer;
  // the timer lets the last reference go out of scope first.
  setTimeout(() => {
    globalThis.gc?.();
    postMessage(answer);
  }, 0);
});
