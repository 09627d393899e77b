// Which model is asked, how much it may do unasked, and what was allowed for a while.
import { useState } from "react";
import type { NotebookStore } from "../app/store.ts";
import { useTopics } from "../app/topics.ts";
import { date } from "../app/words.ts";
import type { Policy } from "../protocol/messages.ts";
import { sentence } from "./ToolCall.tsx";

interface Props {
  store: NotebookStore;
  model: string;
  setModel: (name: string) => void;
  /** Those that answered here. */
  models: string[];
}

const POLICIES: [Policy, string, string][] = [
  ["guarded", "Guarded", "It edits by itself; what reaches outside, deletes or overwrites waits for you."],
  ["ask_for_every_edit", "Ask for every edit", "Everything but reading waits for you."],
  ["trusted", "Trusted", "Only what destroys something waits for you."],
];

export function AssistantSettings({ store, model, setModel, models }: Props) {
  useTopics(store, "assistants", "access");
  const [draft, setDraft] = useState(model);
  const { policy, grants, conversations } = store.document;
  const isOwner = store.replica.role === "owner" && store.session.mayManage;
  return (
    <section className="settings stack" aria-label="Model and policy">
      <label className="stack tight">
        <span className="small">Model</span>
        <input
          className="field mono"
          list="models"
          value={draft}
          placeholder="the server’s default"
          spellCheck={false}
          onChange={(event) => setDraft(event.target.value)}
          onBlur={() => setModel(draft.trim())}
        />
        <datalist id="models">
          {[...new Set(models)].map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <span className="small quiet">PROVIDER, PROVIDER/MODEL, or a model of the first provider</span>
      </label>
      <fieldset className="stack tight" disabled={!isOwner}>
        <legend className="small">What it may do unasked{isOwner ? "" : " (an owner decides)"}</legend>
        {POLICIES.map(([value, name, words]) => (
          <label key={value} className="choice">
            <input
              type="radio"
              name="policy"
              checked={policy === value}
              onChange={() => void store.decide({ SetPolicy: { policy: value } })}
            />
            <span>
              {name}
              <span className="small quiet">{words}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {grants.size > 0 && (
        <div className="stack tight">
          <span className="small">Allowed for a while</span>
          {[...grants].map(([id, grant]) => (
            <p key={id} className="row small">
              <span className="grow">
                {(grant.functions ?? []).length === 0 ? "Everything" : (grant.functions ?? []).map(sentence).join(", ")} in “
                {conversations.get(grant.conversation_id)?.title || "Conversation"}” until {date(grant.expires_at)}
              </span>
              <button className="button bare small" onClick={() => void store.do({ RevokeGrant: { grant_id: id } })}>
                End
              </button>
            </p>
          ))}
        </div>
      )}
    </section>
  );
}
