// The clock, for what is shown of it.
import { useEffect, useState } from "react";

export function useNow(every: number | undefined): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (every === undefined) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}
