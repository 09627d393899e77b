// Estimate of the server's clock. Event times are the server's, and this machine's clock may be wrong by hours.

let aheadMs = 0;
/** Smaller differences are ignored, because `Date` headers have whole seconds. */
const LEAST_MS = 3_000;

/** Learns the offset from an answer's `Date`, and this machine's times of request and answer. */
export function learn(date: string | null, sentAt: number, receivedAt: number): void {
  const told = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(told)) return;
  const off = told + 500 - (sentAt + receivedAt) / 2;
  aheadMs = Math.abs(off) < LEAST_MS + receivedAt - sentAt ? 0 : off;
}

/** Estimated time of the server's clock now. */
export function serverNow(): number {
  return Date.now() + aheadMs;
}
