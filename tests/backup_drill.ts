/**
 * Runs the tests with the real restic at length: `deno task backup-drill [SEED]`.
 *
 * @module
 */

const seed = Deno.args[0] ?? String(crypto.getRandomValues(new Uint16Array(1))[0]);
console.log(`Seed ${seed}; deno task backup-drill ${seed} repeats it`);
const { code } = await new Deno.Command(Deno.execPath(), {
  args: ["test", "--frozen", "-A", "tests/services/backup/restic/real_restic_test.ts"],
  env: {
    BACKUP_DRILL_TREES: "1000",
    BACKUP_DRILL_OPERATIONS: "50",
    BACKUP_DRILL_SEED: seed,
  },
}).spawn().status;
Deno.exit(code);
