// Error boundary: a failed part of the page shows an error with a retry; the rest keeps working.
import { Component, type ErrorInfo, type ReactNode } from "react";

interface Props {
  what: string;
  children: ReactNode;
  /** Closes the part, if it is an overlay. */
  close?: () => void;
  /** Identity of the content: a new value clears the error. */
  of?: unknown;
}

interface State {
  error: Error | undefined;
  stack: string;
}

const WHOLE: State = { error: undefined, stack: "" };

export class Boundary extends Component<Props, State> {
  override state = WHOLE;

  static getDerivedStateFromError(thrown: unknown): Partial<State> {
    return { error: thrown instanceof Error ? thrown : new Error(String(thrown)) };
  }

  override componentDidCatch(_: unknown, { componentStack }: ErrorInfo): void {
    this.setState({ stack: componentStack ?? "" });
  }

  override componentDidUpdate({ of }: Props): void {
    if (this.state.error && of !== this.props.of) this.setState(WHOLE);
  }

  override render(): ReactNode {
    const { error, stack } = this.state;
    const { what, children, close } = this.props;
    if (!error) return children;
    const details = [what, navigator.userAgent, error.stack ?? error.message, stack.trim()].join("\n\n");
    return (
      <div className={close ? "broken over" : "broken"} role="alert">
        <p className="grow">{what} stopped working. The rest of the page goes on.</p>
        <button className="button" onClick={() => this.setState(WHOLE)}>
          Reload this part
        </button>
        <button className="button" onClick={() => void navigator.clipboard.writeText(details)}>
          Copy details
        </button>
        {close && (
          <button className="button" onClick={close}>
            Close
          </button>
        )}
      </div>
    );
  }
}
