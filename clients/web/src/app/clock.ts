// The server's clock. Times in events are the server's; this machine's clock may be wrong by hours.

let aheadMs = 0;
/** An answer names whole seconds. */
const LEAST_MS = 3_000;

/** Reads the `Date` of an answer, with this machine's times of the request and the answer. */
export function learn(date: string | null, sentAt: number, receivedAt: number): void {
  const told = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(told)) return;
  const off = told + 500 - (sentAt + receivedAt) / 2;
  aheadMs = Math.abs(off) < LEAST_MS + receivedAt - sentAt ? 0 : off;
}

/** What the server's clock says now, as well as this page knows it. */
export function serverNow(): number {
  return Date.now() + aheadMs;
}
