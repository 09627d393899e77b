// Carets and selections of other people in an editor.
import { type EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, WidgetType } from "@codemirror/view";

export interface PeerCaret {
  name: string;
  hue: number;
  anchor: number;
  head: number;
}

export const setPeers = StateEffect.define<PeerCaret[]>();

class Caret extends WidgetType {
  constructor(readonly peer: PeerCaret) {
    super();
  }

  override eq(other: Caret): boolean {
    return other.peer.name === this.peer.name && other.peer.hue === this.peer.hue;
  }

  toDOM(): HTMLElement {
    const caret = document.createElement("span");
    caret.className = "peer-caret";
    caret.style.setProperty("--hue", String(this.peer.hue));
    const label = document.createElement("span");
    label.className = "peer-name";
    label.textContent = this.peer.name;
    caret.append("\u2060", label);
    return caret;
  }

  override ignoreEvent(): boolean {
    return true;
  }
}

function decorations(peers: PeerCaret[], state: EditorState): DecorationSet {
  const within = (at: number) => Math.max(0, Math.min(at, state.doc.length));
  const ranges = peers.flatMap((peer) => {
    const [anchor, head] = [within(peer.anchor), within(peer.head)];
    const mark = Decoration.mark({ class: `peer-selection peer-hue-${peer.hue}` });
    const selection = anchor === head ? [] : [mark.range(Math.min(anchor, head), Math.max(anchor, head))];
    return [...selection, Decoration.widget({ widget: new Caret(peer), side: 1 }).range(head)];
  });
  return Decoration.set(ranges, true);
}

export const peerCarets = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(shown, transaction) {
    const set = transaction.effects.find((effect) => effect.is(setPeers));
    return set ? decorations(set.value, transaction.state) : shown.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});
