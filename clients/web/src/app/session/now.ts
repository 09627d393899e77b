// Hook for the current time, updated at an interval.
import { useEffect, useState } from "react";

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
