// Where a part of the page fails: the rest goes on, and the part says so.
import { Component, type ReactNode } from "react";

interface Props {
  what: string;
  children: ReactNode;
}

export class Boundary extends Component<Props, { error: Error | undefined }> {
  override state = { error: undefined as Error | undefined };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <div className="broken" role="alert">
        <p>
          {this.props.what} cannot be shown: {error.message}
        </p>
        <button className="button" onClick={() => this.setState({ error: undefined })}>
          Try again
        </button>
      </div>
    );
  }
}
