// List of the people without an avatar. Lazy: loads with its first click.
import { Menu } from "@base-ui/react/menu";
import type { NotebookStore } from "../../app/state/store.ts";
import type { PeerState } from "../../protocol/messages.ts";
import { MenuPopup } from "../../ui/MenuPopup.tsx";
import { describe } from "./People.tsx";

export default function MorePeople({ store, peers }: { store: NotebookStore; peers: PeerState[] }) {
  return (
    <Menu.Root defaultOpen>
      <Menu.Trigger
        className="button bare small more-people"
        aria-label={`${peers.length} more ${peers.length === 1 ? "person" : "people"}`}
      >
        +{peers.length}
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} className="above people-list">
          <MenuPopup>
            {peers.map((peer) => {
              const { name, place, isFollowed } = describe(store, peer);
              return (
                <Menu.Item key={peer.connection} className="item" onClick={() => store.together.follow(peer.connection)}>
                  {isFollowed ? "Stop following" : "Follow"} {name}
                  {place && <span className="quiet small">{place}</span>}
                </Menu.Item>
              );
            })}
          </MenuPopup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
