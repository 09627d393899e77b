// A toast with its actions.
export interface Toast {
  id: string;
  text: string;
  action?: { label: string; run: () => void };
  second?: { label: string; run: () => void };
  isError?: boolean;
  copy?: string;
  copyLabel?: string;
}
