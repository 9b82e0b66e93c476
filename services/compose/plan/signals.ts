/** Names of signals, which engines and files write in several ways. @module */

/** The signals of Linux from 1 on. */
const NAMES =
  "HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT " +
  "STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS";

const BY_NUMBER = NAMES.split(" ");

/** The number of `SIGRTMIN`. */
const FIRST_REAL_TIME = 34;

/** A signal by its name: `SIGKILL` for `9` and `kill`. */
export function signalName(signal: string | undefined): string | undefined {
  if (!signal) return undefined;
  const number = Number(signal);
  if (number > FIRST_REAL_TIME) return `SIGRTMIN+${number - FIRST_REAL_TIME}`;
  return `SIG${BY_NUMBER[number - 1] ?? signal.toUpperCase().replace(/^SIG/, "")}`;
}
