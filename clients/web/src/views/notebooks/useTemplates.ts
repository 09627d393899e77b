// Templates for new notebooks.
import { useEffect, useState } from "react";
import type { Session } from "../../app/session/session.ts";
import type { components } from "../../protocol/rest.ts";

type All = components["schemas"]["Templates"];

export function useTemplates({ rest }: Session) {
  const [templates, setTemplates] = useState<All>();
  const [error, setError] = useState<string>();
  useEffect(() => {
    rest.get<All>("/api/templates").then(setTemplates, (failure: Error) => setError(failure.message));
  }, [rest]);
  return { templates, error };
}
