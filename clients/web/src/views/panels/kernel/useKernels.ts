// Kernels and agents as REST lists them, asked for again while they are shown.
import { useEffect, useState } from "react";
import type { NotebookStore } from "../../../app/state/store.ts";
import type { Kernels } from "../../../protocol/rest.ts";

/** Interval of asking again: agents come and go, and measure their machines. */
const AGAIN_MS = 3_000;

/** `undefined`: not known yet, or not wanted. */
export function useKernels(store: NotebookStore, isWanted: boolean): Kernels | undefined {
  const [known, setKnown] = useState<Kernels>();
  useEffect(() => {
    if (!isWanted) return setKnown(undefined);
    let isGone = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      const answer = await store.session.rest.get<Kernels>(`/api/notebooks/${store.id}/kernels`).catch(() => undefined);
      if (isGone) return;
      if (answer) setKnown(answer);
      timer = setTimeout(() => void ask(), AGAIN_MS);
    };
    void ask();
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [store, isWanted]);
  return known;
}
