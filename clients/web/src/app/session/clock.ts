// Estimate of the server's clock, because this machine's may be wrong by hours; and a hook for the current time.
import { useEffect, useState } from "react";

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

/** Hook: the current time, updated at an interval. */
export function useNow(every: number | undefined, clock: () => number = Date.now): number {
  const [now, setNow] = useState(clock);
  useEffect(() => {
    if (every === undefined) return;
    setNow(clock());
    const timer = setInterval(() => setNow(clock()), every);
    return () => clearInterval(timer);
  }, [every, clock]);
  return now;
}
