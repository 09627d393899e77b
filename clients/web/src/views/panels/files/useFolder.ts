// Listing of a folder beside the notebook, in pages. Outdated answers are dropped.
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { type FileList, type Files, problemWords } from "../../../app/files/files.ts";

export interface Opened {
  list?: FileList;
  error?: string;
  isLooking: boolean;
  refresh: () => void;
  more: () => void;
}

type State = Pick<Opened, "list" | "error" | "isLooking">;

export function useFolder(work: Files, path: string, all: boolean): Opened {
  const [state, setState] = useState<State>({ isLooking: true });
  const asked = useRef(0);
  const changes = useSyncExternalStore(
    (changed) => work.listen(changed),
    () => work.changes,
  );
  const look = useCallback(
    async (before?: FileList) => {
      const number = ++asked.current;
      setState(({ list }) => ({ ...(list && { list }), isLooking: true }));
      try {
        const page = await work.list(path, before?.next ?? undefined, all);
        const list = before ? { ...page, files: [...before.files, ...page.files] } : page;
        if (number === asked.current) setState({ list, isLooking: false });
      } catch (error) {
        if (number === asked.current) setState({ error: problemWords(error), isLooking: false });
      }
    },
    [work, path, all],
  );
  useEffect(() => void look(), [look, changes]);
  const refresh = useCallback(() => void look(), [look]);
  return { ...state, refresh, more: () => void look(state.list) };
}
