// The time for which the server's changes have not come: the connection is lost, or the notebook cannot be read.
import type { Connection } from "../../transport/connection.ts";
import type { Replica } from "../../transport/replica.ts";

export class Outage {
  /** Its beginning, in milliseconds since 1970; undefined: there is none. */
  since: number | undefined;

  constructor(connection: Connection, replica: Replica) {
    const look = () => {
      const isOut = connection.state.name !== "live" || replica.state.name === "behind";
      this.since = isOut ? (this.since ?? Date.now()) : undefined;
    };
    connection.changed.add(look);
    replica.stateChanged.add(look);
    look();
  }
}
