// A message at the edge of the page, with what can be done about it.
export interface Toast {
  id: string;
  text: string;
  action?: { label: string; run: () => void };
  second?: { label: string; run: () => void };
  isError?: boolean;
  copy?: string;
  copyLabel?: string;
}
